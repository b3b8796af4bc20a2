import { MemoryStoreError } from "../../../contracts/state-errors.js";

type Waiting = () => void;

/** One lock per scope within this process, given in the order of asking. Not re-entrant: who asks again inside `work` waits for itself. */
export class ScopeLocks {
  /** The held scopes, each with those who wait for it. */
  readonly #held = new Map<string, Waiting[]>();

  /** @throws MemoryStoreError when the lock is not had in time; what `work` throws. */
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

  /** Hands the lock to the next in line, so that nobody can come in between. */
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

/** The error of a lock that was not free in time. */
export function lockTimeout(scope: string, timeoutMs: number): MemoryStoreError {
  return new MemoryStoreError(
    `The lock of scope '${scope}' was not free within ${timeoutMs} ms`,
    { operation: "withLock", scope },
    {
      hint: "Hold it for less time, raise timeoutMs, or see that no work asks for a lock that it holds",
    },
  );
}
