import type { Claim, ClaimEnd, KeptEntry } from "../../../contracts/journal.js";
import type { LlmCall } from "../../../contracts/hooks.js";
import type { HookRun } from "../../../contracts/run.js";
import type { StoredReview } from "../../../contracts/review.js";
import type { SavedUsage, SpentUsage } from "../../../contracts/usage.js";
import type { Schemas } from "../../shared/schemas.js";
import type { RunKeeping } from "./durable-settings.js";
import type { ExecutionEnd } from "./run-result.js";
import type { KeptCall } from "./kept-values.js";
import type { ReleaseEnd } from "./kept-steps.js";
import { RunCancelledError, RunSuspendedError } from "../../../contracts/errors.js";
import { RunFencedError } from "../../../contracts/journal-errors.js";
import { startTimer } from "../../../util/abort/timer.js";
import { Activity } from "./activity.js";
import {
  callsIn,
  failureIn,
  taskIn,
  usageOfCall,
  usageOfFailed,
  voidCallsIn,
} from "./kept-values.js";
import { MemorySteps } from "./memory-steps.js";
import { ModelSteps } from "./model-steps.js";
import { OutsideSteps } from "./outside-steps.js";
import type { KeptState } from "./run-journal.js";
import { RunJournal, retried } from "./run-journal.js";
import { claimEndOf, savedBy } from "./run-result.js";
import { TaskStates } from "./task-states.js";
import { TaskSteps } from "./task-steps.js";
import { ToolSteps } from "./tool-steps.js";

/** Kinds of entries that an unchanged program requests. */
const ASKED_FOR: readonly string[] = ["task", "call", "tool", "step"];
/** Maximum number of entries that a warning names. */
const NAMED = 5;

/** The data with which a run is opened. */
export interface OpenedRun extends KeptState {
  readonly run: HookRun;
  readonly keeping: RunKeeping;
  readonly schemas: Schemas;
  /** Memory stores of the kernel that were checked. */
  readonly checkedStores: WeakSet<object>;
  /** Called with each call that the journal answers, for the run that this run joined. */
  readonly onCalls: (calls: readonly KeptCall[]) => void;
}

/** One execution of a durable run. */
export class DurableRun {
  readonly run: HookRun;
  readonly journal: RunJournal;
  readonly states = new TaskStates();
  readonly tasks: TaskSteps;
  readonly models: ModelSteps;
  readonly tools: ToolSteps;
  readonly memory: MemorySteps;
  readonly outside: OutsideSteps;
  readonly activity: Activity;
  /** Steps of handlers that were started in this execution, by key. */
  readonly steps = new Set<string>();
  readonly #keeping: RunKeeping;
  readonly #claim: Claim | undefined;
  #saved: SavedUsage | undefined;
  #isFenced = false;
  #isHeld = false;
  /** Whether a run that completes can be resumed. */
  #isInterrupted = false;
  /** Ends the run in the journal, if its end is delayed. */
  #release: (() => Promise<void>) | undefined;
  #stopRenewing: () => void = () => undefined;
  #stopTimer: (() => void) | undefined;

  constructor(opened: OpenedRun) {
    const { run, keeping, schemas, onCalls } = opened;
    this.#keeping = keeping;
    this.#claim = opened.claim;
    this.run = run;
    this.journal = new RunJournal(run, keeping, opened);
    const { journal, states } = this;
    this.tasks = new TaskSteps(journal, states, {
      schemas,
      onRestored: onCalls,
      failedCalls: (place) => this.models.failedCalls(place),
    });
    this.models = new ModelSteps(journal, states, (call) => onCalls([call]));
    this.tools = new ToolSteps(journal);
    this.memory = new MemorySteps(journal, states, opened.checkedStores);
    this.outside = new OutsideSteps(journal, states);
    this.activity = new Activity(() => this.#activityChanged());
  }

  /** Counts the usage of earlier executions, and renews the claim. */
  begin({ entries, execution }: Pick<KeptState, "entries" | "execution">): void {
    const { run } = this;
    if (this.#claim !== undefined) this.#keepClaim(this.#claim);
    if (entries.length === 0 && execution <= 1) return;
    run.spent(spentBy(entries));
    const { finishedTasks } = this.journal;
    this.#saved = savedBy(run.earlierUsage, toolCallsIn(entries));
    run.noteSaved(this.#saved);
    const restoredCalls = entries.length - finishedTasks;
    run.emit({ type: "run_resumed", execution, finishedTasks, restoredCalls, saved: this.#saved });
  }

  callBegins(call: LlmCall): ReturnType<ModelSteps["replace"]> {
    if (call.taskAttempt === 0) this.activity.countCall(1);
    return this.models.replace(call);
  }

  callEnds(call: Parameters<ModelSteps["settle"]>[0]): Promise<void> {
    if (call.taskAttempt === 0) this.activity.countCall(-1);
    return this.models.settle(call);
  }

  /** Registers a review that the run waits for. Returns a function that ends the wait. */
  waits(review: StoredReview): () => void {
    if (this.tools.isWithinDelicateCall(review)) return () => undefined;
    const { taskId, agentRole, reviewId } = review;
    const name = `task '${taskId}' of agent '${agentRole}' (review ${reviewId})`;
    this.activity.asks(taskId, name);
    return () => this.activity.answered(taskId, name);
  }

  /** Delays the release of a completed run until the returned function is called. */
  holdEnd(): ReleaseEnd {
    this.#isHeld = true;
    return async ({ isInterrupted = false } = {}) => {
      this.#isHeld = false;
      this.#isInterrupted ||= isInterrupted;
      const release = this.#release;
      this.#release = undefined;
      await release?.();
    };
  }

  /** Ends the execution in the journal. */
  async end(end: ExecutionEnd): Promise<void> {
    this.#stopTimer?.();
    const claim = this.#claim;
    const { journal, settings } = this.#keeping;
    this.journal.end();
    if (claim === undefined || this.#isFenced) return this.#stopRenewing();
    if (end.error === undefined) this.#warnOfUnasked();
    const ended = claimEndOf(end, { sealed: settings.sealed, saved: this.#saved });
    const release = async (): Promise<void> => {
      this.#stopRenewing();
      if (this.#isFenced) return;
      const isLeft = this.#isInterrupted && ended.status === "completed";
      const claimEnd: ClaimEnd = isLeft ? { ...ended, status: "interrupted" } : ended;
      await retried(this.run, () => journal.release(claim, claimEnd));
    };
    if (this.#isHeld && end.error === undefined) this.#release = release;
    else await release();
  }

  /**
   * Called when another process has taken over the run. This execution then writes no further
   * entries.
   */
  #fence(): void {
    this.#isFenced = true;
    this.#stopRenewing();
    this.journal.end();
    this.run.cancel(new RunFencedError(this.run.id));
  }

  #keepClaim(claim: Claim): void {
    const { settings, journal } = this.#keeping;
    const renew = async (): Promise<void> => {
      const renewal = await journal.renew(claim);
      if (renewal.state === "lost") return this.#fence();
      const { cancelReason } = renewal;
      if (cancelReason !== undefined)
        this.run.cancel(new RunCancelledError(`The run was cancelled: ${cancelReason}`));
    };
    // A failed renewal is repeated with the next one. A write ends the run if the journal is not
    // available.
    const timer = setInterval(() => void renew().catch(() => undefined), settings.leaseMs / 3);
    timer.unref();
    this.#stopRenewing = () => clearInterval(timer);
  }

  #activityChanged(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const { suspendAfterMs } = this.journal.settings;
    if (suspendAfterMs === undefined || this.run.parent !== undefined) return;
    if (!this.activity.waitsForPeople) return;
    this.#stopTimer = startTimer(suspendAfterMs, () => void this.#suspend());
  }

  /**
   * Ends the execution if the run only waits for reviews. Waits some turns of the event loop first,
   * because a workflow may be between two tasks.
   */
  async #suspend(): Promise<void> {
    for (let turn = 0; turn < 3; turn++)
      await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.#stopTimer === undefined || !this.activity.waitsForPeople) return;
    this.#stopTimer = undefined;
    const waitsFor = `Waits for a person: ${this.activity.questions.join(", ")}`;
    this.run.emit({ type: "run_suspended", waitsFor });
    this.run.cancel(new RunSuspendedError(waitsFor));
  }

  #warnOfUnasked(): void {
    const { index } = this.journal;
    const unasked = index.unasked.filter(({ kind }) => ASKED_FOR.includes(kind));
    if (unasked.length === 0) return;
    const named = unasked.slice(0, NAMED).map(({ key }) => key);
    const more = unasked.length > NAMED ? ` and ${unasked.length - NAMED} more` : "";
    this.run.warn(
      `${unasked.length} entries of the journal were not requested, because the program has changed: ${named.join(", ")}${more}`,
    );
  }
}

/**
 * Returns the usage of all calls of earlier executions. Answers from the journal report it again.
 */
function spentBy(entries: readonly KeptEntry[]): readonly SpentUsage[] {
  const failed = entries.flatMap((entry) =>
    entry.kind === "failed" ? usageOfFailed(failureIn(entry).failed, {}) : [],
  );
  const restored = [...callsIn(entries).flatMap(usageOfCall), ...failed];
  const gone = entries.flatMap((entry) => (entry.kind === "redo" ? voidCallsIn(entry) : []));
  return [
    ...restored.map((used) => ({ ...used, restored: true })),
    ...gone.flatMap(usageOfCall), // the usage of removed entries, which no later request returns
  ];
}

function toolCallsIn(entries: readonly KeptEntry[]): number {
  const finished = new Set<string>();
  let count = 0;
  for (const entry of entries) {
    if (entry.kind !== "task") continue;
    const task = taskIn(entry);
    if (task.parent === true) continue;
    finished.add(entry.task);
    count += task.toolCallCount;
  }
  return count + entries.filter(({ kind, task }) => kind === "tool" && !finished.has(task)).length;
}
