import type { MemoryEntry } from "../contracts/memory.js";
import type { GatewayScope } from "./task-scope.js";
import { messageOf, toError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { fireAfter, fireBefore } from "./firing.js";

/**
 * The gateway of all writes to memory. A rejected entry is not written and becomes a warning.
 * @throws ValidationError without a store; what the store throws.
 */
export async function writeMemory(scope: GatewayScope, name: string, entry: MemoryEntry): Promise<void> {
  const { engine } = scope;
  const { points, warn, settings, info } = engine;
  const going = (): void => {
    if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  };
  going();
  const store = settings.get(Tokens.MemoryStore);
  let write = { run: info, scope: name, entry };
  const fired = points.beforeMemoryWrite.used || points.afterMemoryWrite.used;
  try {
    if (points.beforeMemoryWrite.used) {
      const firing = await fireBefore(points.beforeMemoryWrite, write, warn);
      write = firing.call;
      if (firing.rejection !== undefined) {
        warn(`Memory scope '${name}': the entry was not written: ${messageOf(firing.rejection)}`);
        await fireAfter(points.afterMemoryWrite, { ...write, entry: undefined, outcome: "rejected", error: firing.rejection }, warn);
        return;
      }
      going(); // a tap may have waited long
    }
    await store.store(name, write.entry);
  } catch (error) {
    const outcome = scope.cancellation.reason === undefined ? "failed" : "aborted";
    if (fired) await fireAfter(points.afterMemoryWrite, { ...write, entry: undefined, outcome, error: toError(error) }, warn);
    throw error;
  }
  if (fired) await fireAfter(points.afterMemoryWrite, { ...write, outcome: "ok" }, warn);
  if (scope.listens("memory_written")) scope.emit({ type: "memory_written", ...scope.identity, scope: name });
}
