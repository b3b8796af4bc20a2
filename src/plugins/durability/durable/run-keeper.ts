import type { EnsembleEvent } from "../../../contracts/events.js";
import type { After, RunCall } from "../../../contracts/hooks.js";
import type { OutsideAccess, OutsideCall } from "../../../contracts/outside.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { HookRun } from "../../../contracts/run.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { StoredReview } from "../../../contracts/review.js";
import type { HandlerStep, KeptSteps } from "./kept-steps.js";
import type { KeptCall } from "./kept-values.js";
import type { RunKeeping } from "./durable-settings.js";
import { RunCancelledError, ValidationError } from "../../../contracts/errors.js";
import { asFields } from "../../../util/objects.js";
import { Schemas } from "../../shared/schemas.js";
import { KEPT_STEPS, type ReleaseEnd } from "./kept-steps.js";
import { DurableRun } from "./durable-run.js";
import { openJournalOf } from "./open-run.js";

/** The durable runs of a kernel, while they are in progress. */
export class RunKeeper implements OutsideAccess, KeptSteps {
  readonly #keeping: () => RunKeeping;
  readonly #schemas = new Schemas();
  readonly #checkedStores = new WeakSet<object>();
  readonly #runs = new Map<Pick<HookRun, "id">, DurableRun>();
  /**
   * The runs that write to a journal, by id, one for each id. Other runs are answered from the
   * journal. Several of them may have the same id.
   */
  readonly #writing = new Map<string, DurableRun>();
  /** Runs that wait for their claim. */
  readonly #opening = new Map<HookRun, AbortController>();

  constructor(keeping: () => RunKeeping) {
    this.#keeping = keeping;
  }

  /** Returns the run if it is durable and has not ended. */
  of(run: Pick<HookRun, "id">): DurableRun | undefined {
    return this.#runs.get(run);
  }

  /** @throws the errors of {@link openJournalOf}. */
  async open({ run }: RunCall): Promise<void> {
    const keeping = this.#keeping();
    const controller = new AbortController();
    this.#opening.set(run, controller);
    const parent = keptParentOf(run);
    try {
      const { signal } = controller;
      const o = { signal, parentIsKept: parent !== undefined };
      const opened = await openJournalOf(run, keeping, o);
      const durable = new DurableRun({
        ...opened,
        run,
        keeping,
        schemas: this.#schemas,
        checkedStores: this.#checkedStores,
        onCalls: (calls) => parent?.(calls),
      });
      this.#runs.set(run, durable);
      if (opened.claim !== undefined) this.#writing.set(run.id, durable);
      durable.begin(opened);
    } finally {
      this.#opening.delete(run);
    }
  }

  async end(call: After<RunCall, "output", EnsembleOutput>): Promise<void> {
    const { run, output, error } = call;
    this.#opening.get(run)?.abort(new RunCancelledError("The run ended before it could begin"));
    const durable = this.of(run);
    if (durable === undefined) return;
    this.#runs.delete(run);
    if (this.#writing.get(run.id) === durable) this.#writing.delete(run.id);
    const reached = output ?? (error as { readonly output?: EnsembleOutput }).output;
    await durable.end({ run, output: reached, error });
  }

  see(event: EnsembleEvent): void {
    this.#writing.get(event.runId)?.activity.see(event);
  }

  waits(review: StoredReview): () => void {
    return this.#writing.get(review.runId)?.waits(review) ?? (() => undefined);
  }

  access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
    return this.of(call.run)?.outside.access(call, work) ?? work();
  }

  keeps(run: RunInfo): boolean {
    return this.of(run) !== undefined;
  }

  countNested(run: RunInfo, nestedId: string, calls: readonly KeptCall[]): void {
    if (!nestedId.startsWith(`${run.id}/`)) return;
    this.of(run)
      ?.states.at(nestedId.slice(run.id.length + 1))
      ?.calls.push(...calls);
  }

  async step<T>(run: RunInfo, step: HandlerStep, work: () => Promise<T>): Promise<T> {
    const durable = this.of(run);
    if (durable === undefined) return work();
    const { journal, steps } = durable;
    const { task, key } = placeOf(run, step);
    if (steps.has(key))
      throw new ValidationError(`once() has the name '${step.name}' twice in one task`);
    steps.add(key);
    const known = journal.index.get(key);
    if (known !== undefined) {
      journal.noteRestored(known);
      return asFields(known.value)?.["value"] as T; // written below
    }
    journal.requireOpen(`step ${key}`);
    const value = await work();
    const kept = { ...(value !== undefined && { value }) };
    await journal.write({ key, kind: "step", task, value: kept });
    return value;
  }

  async note(run: RunInfo, step: HandlerStep, value: unknown): Promise<void> {
    const journal = this.of(run)?.journal;
    const { task, key } = placeOf(run, step);
    if (journal === undefined || journal.index.get(key) !== undefined) return;
    const entry = { key, kind: "step", task, value: { value } } as const;
    if (journal.fits(entry)) await journal.write(entry);
  }

  noted(run: RunInfo, step: HandlerStep): unknown {
    const journal = this.of(run)?.journal;
    const known = journal?.index.get(placeOf(run, step).key);
    if (known === undefined) return undefined;
    journal?.noteRestored(known);
    return asFields(known.value)?.["value"];
  }

  holdEnd(run: RunInfo): ReleaseEnd {
    return this.of(run)?.holdEnd() ?? nothing;
  }
}

const nothing = (): Promise<void> => Promise.resolve();

/** The task of a step, and the key of its entry. */
function placeOf(
  run: RunInfo,
  { idempotencyKey, name }: HandlerStep,
): Record<"task" | "key", string> {
  const task = idempotencyKey.slice(run.id.length + 1);
  return { task, key: `S:${task}/${name}` };
}

/**
 * Counts calls under the run that this run joined, if that run is durable. That run may use this
 * plugin or the plugin of another kernel.
 */
function keptParentOf({ id, parent }: HookRun): ((calls: readonly KeptCall[]) => void) | undefined {
  const keeper = parent?.find(KEPT_STEPS);
  if (parent === undefined || keeper?.keeps(parent) !== true) return undefined;
  return (calls) => keeper.countNested(parent, id, calls);
}
