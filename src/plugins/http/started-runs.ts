import type { Principal } from "../../contracts/http-route.js";
import type { RunHandle } from "../../contracts/run.js";
import type { TurnOwner } from "../shared/thread-tags.js";
import type { LiveStream } from "./live-stream.js";
import { codeOf } from "../../util/objects.js";
import { ownerTagOf } from "./ownership.js";

/** Number of runs that are remembered after their end. */
const KEPT_RUNS = 1_000;

/** A run that was started over HTTP. */
export interface StartedRun {
  readonly id: string;
  readonly owner: string;
  /** The thread of a turn and the owner of the thread. */
  turnOf: TurnOwner | undefined;
  /** Set to `undefined` after the end of the run, because its output is not stored. */
  handle: RunHandle | undefined;
  /** The code of the error of a failed run. */
  failure: string | undefined;
  /** The stream of the run, while it can be read. */
  stream: LiveStream | undefined;
}

/** The runs of a handler: all runs in progress, and the last ended runs. */
export class StartedRuns {
  readonly #live = new Map<string, StartedRun>();
  readonly #ended = new Map<string, StartedRun>();

  add(handle: RunHandle, principal: Principal, turnOf?: TurnOwner): StartedRun {
    const run: StartedRun = {
      id: handle.id,
      owner: ownerTagOf(principal),
      turnOf,
      handle,
      failure: undefined,
      stream: undefined,
    };
    this.#live.set(run.id, run);
    handle.output.then(
      () => this.#end(run),
      (error: unknown) => {
        run.failure = failureCode(error);
        this.#end(run);
      },
    );
    return run;
  }

  /** Returns a turn of this thread, from any caller. */
  turn(id: string, { threadId, owner }: TurnOwner): StartedRun | undefined {
    const run = this.get(id);
    return run?.turnOf?.threadId === threadId && run.turnOf.owner === owner ? run : undefined;
  }

  /** Removes the turns of this thread. Its pages do not receive them any more. */
  forget(thread: TurnOwner): void {
    for (const runs of [this.#live, this.#ended])
      for (const run of runs.values())
        if (this.turn(run.id, thread) !== undefined) run.turnOf = undefined;
  }

  /** Returns a run, from any caller. */
  get(id: string): StartedRun | undefined {
    return this.#live.get(id) ?? this.#ended.get(id);
  }

  /** Returns a run only for its owner: the `owner` of a principal, otherwise its `name`. */
  find(id: string, principal: Principal): StartedRun | undefined {
    const run = this.get(id);
    return run?.owner === ownerTagOf(principal) ? run : undefined;
  }

  /**
   * Returns the run of this owner that has requested one of these reviews of its tool calls.
   */
  findAsking(reviewIds: readonly string[], principal: Principal): StartedRun | undefined {
    const owner = ownerTagOf(principal);
    for (const runs of [this.#live, this.#ended])
      for (const run of runs.values())
        if (run.owner === owner && reviewIds.some((id) => run.stream?.asked(id) === true))
          return run;
    return undefined;
  }

  #end(run: StartedRun): void {
    run.handle = undefined;
    if (run.stream?.isKept === false) run.stream = undefined;
    this.#live.delete(run.id);
    this.#ended.set(run.id, run);
    if (this.#ended.size <= KEPT_RUNS) return;
    for (const oldest of this.#ended.keys()) return void this.#ended.delete(oldest);
  }
}

function failureCode(error: unknown): string {
  const code = codeOf(error);
  return typeof code === "string" ? code : "INTERNAL";
}
