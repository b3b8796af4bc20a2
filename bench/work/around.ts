import { AsyncLocalStorage } from "node:async_hooks";
import { AsyncSeriesBailHook, SyncHook } from "tapable";
import type { WorkOf, Work } from "../harness/scenario.js";

/** The code around every unit of hand-written work. */
export interface Around {
  unit<T>(name: string, work: () => Promise<T>): Promise<T>;
  token(text: string): void;
}

/** Only hand-written promises. */
const bare: Around = Object.freeze({
  unit: <T>(_name: string, work: () => Promise<T>) => work(),
  token: () => undefined,
});

interface Call {
  readonly name: string;
}

/**
 * Returns the minimum code of hooks. It has one tap on each hook of a pair, an abort check, and a
 * store for the logger. Tokens pass a synchronous hook.
 */
function hooked(): Around {
  const { signal } = new AbortController();
  const before = new AsyncSeriesBailHook<[Call], true | undefined>(["call"]);
  const after = new AsyncSeriesBailHook<[Call, unknown], true | undefined>(["call", "result"]);
  const token = new SyncHook<[string]>(["text"]);
  const store = new AsyncLocalStorage<Call>();
  let fired = 0;
  before.tapPromise("count", async () => void fired++);
  after.tapPromise("count", async () => void fired++);
  token.tap("count", () => void fired++);
  return {
    async unit(name, work) {
      signal.throwIfAborted();
      const call: Call = { name };
      return store.run(call, async () => {
        await before.promise(call);
        const result = await work();
        await after.promise(call, result);
        return result;
      });
    },
    token(text) {
      signal.throwIfAborted();
      token.call(text);
    },
  };
}

/**
 * Returns the sides of a scenario: hand-written work, the same work with hooks, and the framework's
 * work.
 */
export function compare(byHand: (around: Around) => Work, byFramework: () => Work): WorkOf {
  return (side) =>
    side === "framework" ? byFramework() : byHand(side === "hooks" ? hooked() : bare);
}
