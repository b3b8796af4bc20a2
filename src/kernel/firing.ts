import type { Outcome } from "../contracts/usage.js";
import type { HookPoint, LaneName } from "./hook-point.js";
import { ExitEarlySignal } from "../contracts/errors.js";
import { Firing } from "./hook-point.js";

type Warn = (message: string) => void;

/** Told the call once its result is judged and reviewed, before it is acted on: what fails after that does not undo the work. */
type Accepted<P> = (call: P) => void;

type Check<P> = (changed: P) => Promise<P | undefined>;

/**
 * Runs a before hook: all lanes in order, until a verdict. `check` sees a call that a tap has changed before it is judged;
 * what it returns is judged instead, `undefined` ends the firing. `begun` gets the firing before any tap does: what is left of it when one throws. Gives the firing itself, and no promise, where every tap answers at once.
 */
export function fireBefore<P>(
  point: HookPoint,
  call: P,
  warn: Warn,
  check?: Check<P>,
  begun?: (firing: Firing<P>) => void,
): Firing<P> | Promise<Firing<P>> {
  const firing = new Firing(call, warn);
  begun?.(firing);
  let index = 0;
  for (const lane of point.usedLanes) {
    const ended = point.fire(lane, firing);
    if (ended === true) break;
    if (ended !== false || isToCheck(firing, lane, check))
      return resumeBefore(point, firing, index, ended, check);
    index++;
  }
  return firing;
}

function isToCheck<P>(firing: Firing<P>, lane: LaneName, check: Check<P> | undefined): boolean {
  return lane === "transform" && firing.replaced && check !== undefined;
}

/** Goes on after something that has to be waited for. */
async function resumeBefore<P>(
  point: HookPoint,
  firing: Firing<P>,
  from: number,
  pending: boolean | Promise<boolean>,
  check: Check<P> | undefined,
): Promise<Firing<P>> {
  let ended = pending;
  for (const [index, lane] of point.usedLanes.entries()) {
    if (index < from) continue;
    if (index > from) ended = point.fire(lane, firing);
    if (await ended) break;
    if (!isToCheck(firing, lane, check)) continue;
    const checked = await check?.(firing.call);
    if (checked === undefined) break;
    firing.call = checked;
  }
  return firing;
}

/**
 * Runs an after hook. Only a result is judged, reviewed and committed; a failure is shown to the transform lane and stays what it is.
 * A review that ends the run is told to the caller in `exit`: the result it has seen is judged and committed as any other.
 * Gives the firing itself, and no promise, where nothing is reviewed or committed and every tap answers at once.
 */
export function fireAfter<P extends { readonly outcome: Outcome }>(
  point: HookPoint,
  call: P,
  warn: Warn,
  accepted?: Accepted<P>,
): Firing<P> | Promise<Firing<P>> {
  const settled = call.outcome === "ok" || call.outcome === "answered";
  const firing = new Firing(call, warn, !settled);
  const transformed = point.fire("transform", firing);
  if (typeof transformed !== "boolean")
    return transformed.then(() => judge(point, firing, call.outcome, accepted));
  return judge(point, firing, call.outcome, accepted);
}

/** What follows the transform lane. */
function judge<P>(
  point: HookPoint,
  firing: Firing<P>,
  outcome: Outcome,
  accepted: Accepted<P> | undefined,
): Firing<P> | Promise<Firing<P>> {
  if (firing.observing) return firing;
  const refused = point.fire("policy", firing);
  const next = (isRefused: boolean): Firing<P> | Promise<Firing<P>> =>
    isRefused || outcome !== "ok" ? firing : conclude(point, firing, accepted);
  return typeof refused === "boolean" ? next(refused) : refused.then(next);
}

function conclude<P>(
  point: HookPoint,
  firing: Firing<P>,
  accepted: Accepted<P> | undefined,
): Firing<P> | Promise<Firing<P>> {
  if (!point.has("review")) return commit(point, firing, accepted);
  firing.replaced = false;
  const reviewed = review(point, firing);
  return typeof reviewed === "boolean" && !firing.replaced
    ? commit(point, firing, accepted)
    : judgeAgain(point, firing, reviewed, accepted);
}

/** A change by a review is judged as the result was. */
async function judgeAgain<P>(
  point: HookPoint,
  firing: Firing<P>,
  reviewed: boolean | Promise<boolean>,
  accepted: Accepted<P> | undefined,
): Promise<Firing<P>> {
  await reviewed;
  return firing.replaced && (await point.fire("policy", firing))
    ? firing
    : commit(point, firing, accepted);
}

function commit<P>(
  point: HookPoint,
  firing: Firing<P>,
  accepted: Accepted<P> | undefined,
): Firing<P> | Promise<Firing<P>> {
  accepted?.(firing.call);
  const committed = point.fire("commit", firing);
  return typeof committed === "boolean" ? firing : committed.then(() => firing);
}

/** Fires the lane; an early exit is kept in the firing. */
function review<P>(point: HookPoint, firing: Firing<P>): boolean | Promise<boolean> {
  const exit = (error: unknown): boolean => {
    if (!ExitEarlySignal.isInstance(error)) throw error;
    firing.exit = error;
    return false;
  };
  try {
    const reviewed = point.fire("review", firing);
    return typeof reviewed === "boolean" ? reviewed : reviewed.catch(exit);
  } catch (error) {
    return exit(error);
  }
}
