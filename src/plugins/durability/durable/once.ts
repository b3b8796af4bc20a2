import type { TaskContext } from "../../../contracts/run.js";
import type { Awaitable } from "../../../contracts/types.js";
import { requireFunction, requireText } from "../../../contracts/validation.js";
import { KEPT_STEPS } from "./kept-steps.js";

/**
 * A part of a handler that is not done again once it is done: when the run is resumed its result comes from the journal, as JSON data. `name` is unique in
 * the handler. `work` gets a key that is the same in each execution, for services that know idempotency keys. Without `durable()` the work is just done.
 * @throws ValidationError for a blank name, or one that the handler has used already; what `work` throws, and it is done again then.
 */
export async function once<T>(
  ctx: TaskContext,
  name: string,
  work: (idempotencyKey: string) => Awaitable<T>,
): Promise<T> {
  requireText(name, "once() needs a name");
  requireFunction("The work of once()", work);
  const { idempotencyKey, run } = ctx;
  const done = async (): Promise<T> => work(`${idempotencyKey}/${name}`);
  const keeper = run.find(KEPT_STEPS);
  return keeper === undefined ? done() : keeper.step(run, { idempotencyKey, name }, done);
}
