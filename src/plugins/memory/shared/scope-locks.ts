import { MemoryStoreError } from "../../../contracts/state-errors.js";

type Waiting = () => void;

/**
 * One lock per scope within this process, granted in order of request. Not re-entrant: a second
 * request inside `work` waits for itself.
 */
export class ScopeLocks {
  /** The locked scopes, each with its waiting callers. */
  readonly #held = new Map<string, Waiting[]>();

  /**
   * Runs `work` with the lock of a scope.
   * @throws MemoryStoreError if the lock is not free in time; the errors of `work`
   */
  async run<T>(scope: string, work: () => Promise<T>, timeoutMs: number): Promise<T> {
    const waiting = this.#held.get(scope);
    if (waiting === undefined) this.#held.set(scope, []);
    else await turn(scope, waiting, timeoutMs);
    try {
      return await work();
    } finally {
      this.#release(scope);
    }
  }

  /** Passes the lock to the next waiting caller, so that a new caller can't take it first. */
  #release(scope: string): void {
    const next = this.#held.get(scope)?.shift();
    if (next === undefined) this.#held.delete(scope);
    else next();
  }
}

function turn(scope: string, waiting: Waiting[], timeoutMs: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const mine: Waiting = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(mine), 1);
      reject(lockTimeout(scope, timeoutMs));
    }, timeoutMs);
    waiting.push(mine);
  });
}

/** Creates the error of a lock that was not free in time. */
export function lockTimeout(scope: string, timeoutMs: number): MemoryStoreError {
  return new MemoryStoreError(
    `The lock of scope '${scope}' was not free within ${timeoutMs} ms`,
    { operation: "withLock", scope },
    {
      hint: "Hold it for less time, raise timeoutMs, or make sure that no work requests a lock that it already holds",
    },
  );
}
