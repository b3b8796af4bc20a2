import type { TaskContext } from "../../../contracts/run.js";
import type { Awaitable } from "../../../contracts/types.js";
import { requireFunction, requireText } from "../../../contracts/validation.js";
import { KEPT_STEPS } from "./kept-steps.js";

/**
 * Executes a step of a handler once. A resumed run gets the result from the journal, as JSON data.
 * `name` is unique in the handler. `work` receives a key that is the same in each execution, for
 * services with idempotency keys. Without `durable()`, the work is executed in each execution.
 * @throws ValidationError for a blank name, or a name that the handler has already used. The error
 * of `work`; a later execution repeats the work.
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
