import { createHash } from "node:crypto";
import type { Explanation } from "../../../contracts/ensemble-options.js";
import type { RunOptions } from "../../../contracts/run.js";
import type { IdGenerator } from "../../../contracts/runtime.js";
import type { Inputs } from "../../../contracts/types.js";
import type { InputProblems, RunAcceptedBody } from "../protocol/control-bodies.js";
import type { Runnable } from "./registrations.js";
import {
  AgentEnsembleError,
  PromptTemplateError,
  ValidationError,
} from "../../../contracts/errors.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";

/** A run that is to be started. */
export interface RequestedRun {
  /** The name under which the ensemble is registered. */
  readonly ensemble: string;
  readonly inputs: Inputs;
  readonly options: Omit<RunOptions, "runId" | "bindings">;
  /** Creates the runnable. It is disposed after the run if `isTemporary`. */
  readonly make: () => Promise<Runnable>;
  readonly isTemporary: boolean;
}

/** The key of a request that must be executed once. */
export interface RequestKey {
  readonly user: string;
  readonly key: string;
  /** The body of the request. */
  readonly body: unknown;
}

interface KeyedStart {
  readonly hash: string;
  readonly accepted: Promise<RunAcceptedBody>;
}

const MAX_KEYS = 10_000;

/** The runs that users start on the dashboard. */
export class RunStarts {
  readonly #ids: Pick<IdGenerator, "next">;
  readonly #most: number;
  readonly #keyed = new Map<string, KeyedStart>();
  /** Names of the ensembles of the runs that were started on this dashboard. */
  readonly #ensembles = new Map<string, string>();
  #atWork = 0;

  constructor(ids: Pick<IdGenerator, "next">, most: number) {
    this.#ids = ids;
    this.#most = most;
  }

  /**
   * Returns the name under which the ensemble of a run is registered, if the run was started on
   * this dashboard.
   */
  ensembleOf(runId: string): string | undefined {
    return this.#ensembles.get(runId);
  }

  nextId(): string {
    return this.#ids.next("run");
  }

  /** Removes a run. */
  forget(runId: string): void {
    this.#ensembles.delete(runId);
  }

  /**
   * Starts a run once for each key.
   * @throws HttpRefusal 409 for another body with a known key; the errors of `start`
   */
  keyed(
    key: RequestKey | undefined,
    start: () => Promise<RunAcceptedBody>,
  ): Promise<RunAcceptedBody> {
    if (key === undefined) return start();
    const name = JSON.stringify([key.user, key.key]);
    const hash = createHash("sha256").update(JSON.stringify(key.body)).digest("hex");
    const known = this.#keyed.get(name);
    if (known !== undefined && known.hash !== hash)
      throw new HttpRefusal(
        409,
        "IDEMPOTENCY_CONFLICT",
        "The Idempotency-Key is known with another body",
      );
    if (known !== undefined) return known.accepted;
    const accepted = start();
    this.#keyed.set(name, { hash, accepted });
    for (const oldest of this.#keyed.keys())
      if (this.#keyed.size > MAX_KEYS) this.#keyed.delete(oldest);
    accepted.catch(() => this.#keyed.delete(name)); // a repetition tries again
    return accepted;
  }

  /**
   * Checks the inputs and starts a run.
   * @throws HttpRefusal 422 for invalid inputs, 429 while too many runs are in progress
   */
  async start({
    ensemble,
    inputs,
    options,
    make,
    isTemporary,
  }: RequestedRun): Promise<RunAcceptedBody> {
    if (this.#atWork >= this.#most)
      throw new HttpRefusal(
        429,
        "CONCURRENCY_LIMIT",
        `${this.#most} runs that were started here have not ended`,
        { headers: { "Retry-After": "5" } },
      );
    this.#atWork++;
    let isStarted = false;
    try {
      const runnable = await make();
      const end = async (): Promise<void> => {
        this.#atWork--;
        if (isTemporary) await runnable.dispose?.();
      };
      const { tasks, workflow } = await explainedInputs(runnable, inputs).catch(
        async (error: unknown) => {
          if (isTemporary) await runnable.dispose?.();
          throw error;
        },
      );
      const runId = this.nextId();
      this.#ensembles.set(runId, ensemble);
      isStarted = true;
      // The failure of the run is reported by its events.
      // `explain()` has checked the inputs.
      void untilRunEnds(async () => runnable.run(inputs as never, { ...options, runId }))
        .then(end)
        .catch(() => undefined);
      return { runId, status: "ACCEPTED", ensemble, tasks: tasks.length, workflow };
    } finally {
      if (!isStarted) this.#atWork--;
    }
  }
}

/** Resolves when a run has ended, successfully or not, even if `run` throws synchronously. */
async function untilRunEnds(run: () => Promise<unknown>): Promise<void> {
  await run().catch(() => undefined);
}

/** Explains a run with these inputs. @throws HttpRefusal 422 */
export async function explainedInputs(runnable: Runnable, inputs: Inputs): Promise<Explanation> {
  try {
    return await runnable.explain(inputs as never); // the ensemble checks them
  } catch (error) {
    if (!AgentEnsembleError.isInstance(error)) throw error;
    const fields = problemsIn(error);
    if (fields === undefined) throw new HttpRefusal(422, "NOT_RUNNABLE", error.message);
    throw new HttpRefusal(422, "INPUTS_INVALID", error.message, { fields: { fields } });
  }
}

/**
 * Returns the problems of inputs, by path. Returns `undefined` for an error about something else.
 */
function problemsIn(error: AgentEnsembleError): InputProblems | undefined {
  if (PromptTemplateError.isInstance(error))
    return Object.fromEntries(error.missingVariables.map((name) => [name, "is missing"]));
  if (!ValidationError.isInstance(error) || error.about !== "inputs") return undefined;
  const problems = error.message.replace(/^The inputs do not fit the ensemble's inputType: /, "");
  return Object.fromEntries(
    problems.split("; ").map((problem) => {
      const [, path = "", message = problem] = /^([\w.[\]-]+): (.+)$/s.exec(problem) ?? [];
      return [path, message];
    }),
  );
}
