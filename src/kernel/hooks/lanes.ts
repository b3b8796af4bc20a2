import type { LaneName } from "../../contracts/hooks.js";
import type { Awaitable, Outcome } from "../../contracts/types.js";
import type { Firing, HookPoint } from "./hook-point.js";
import { ExitEarlySignal } from "../../contracts/errors.js";

/** Checks a call that a tap has changed, before policies judge it. `undefined` refuses the call. */
export interface Checker<P> {
  check?(changed: P): Awaitable<P | undefined>;
}

type LaneEnd = boolean | Promise<boolean>;

/** Runs the lanes of a before hook until a verdict. Returns a promise if a tap or check does. */
export function fireBefore<P>(
  point: HookPoint,
  firing: Firing<P>,
  checker: Checker<P>,
  from = 0,
): void | Promise<void> {
  const lanes = point.usedLanes;
  for (let i = from; i < lanes.length; i++) {
    const lane = lanes[i] as LaneName; // the index is in range
    let ended = point.fire(lane, firing);
    if (lane === "transform" && checker.check !== undefined)
      ended =
        ended instanceof Promise
          ? ended.then(() => recheck(firing, checker))
          : recheck(firing, checker);
    if (ended instanceof Promise)
      return ended.then((isEnd) => (isEnd ? undefined : fireBefore(point, firing, checker, i + 1)));
    if (ended) return undefined;
  }
}

/** Returns whether the check of a changed call refuses it. */
function recheck<P>(firing: Firing<P>, checker: Checker<P>): LaneEnd {
  return firing.replaced && dismissal(firing, checker);
}

async function dismissal<P>(firing: Firing<P>, checker: Checker<P>): Promise<boolean> {
  const checked = await checker.check?.(firing.call);
  if (checked === undefined) firing.dismissed = true;
  else firing.call = checked;
  return firing.dismissed;
}

/**
 * Runs the lanes of an after hook. Policies judge only results. Reviews and commits run only for
 * completed work. A review that ends the run sets `exit`. Its result is still judged and committed.
 */
export function fireAfter<P>(
  point: HookPoint,
  firing: Firing<P>,
  outcome: Outcome,
  from = 0,
): void | Promise<void> {
  const lanes = point.usedLanes;
  for (let i = from; i < lanes.length; i++) {
    const lane = lanes[i] as LaneName; // the index is in range
    const isDue = lane === "policy" ? !firing.readOnly : lane === "transform" || outcome === "ok";
    if (!isDue) continue;
    if (lane === "commit") firing.accepted = true; // later failures do not undo the work
    const ended = lane === "review" ? review(point, firing) : point.fire(lane, firing);
    if (ended instanceof Promise)
      return ended.then((isEnd) => (isEnd ? undefined : fireAfter(point, firing, outcome, i + 1)));
    if (ended) return undefined;
  }
}

/** Fires the review lane. Policies judge a changed result again. Stores an early exit. */
function review<P>(point: HookPoint, firing: Firing<P>): LaneEnd {
  const exit = (error: unknown): boolean => {
    if (!ExitEarlySignal.isInstance(error)) throw error;
    firing.exit = error;
    return false;
  };
  const judge = (): LaneEnd => firing.replaced && point.fire("policy", firing);
  firing.replaced = false;
  let reviewed: LaneEnd;
  try {
    reviewed = point.fire("review", firing);
  } catch (error) {
    reviewed = exit(error);
  }
  return reviewed instanceof Promise ? reviewed.catch(exit).then(judge) : judge();
}
