import type { LaneName } from "../../contracts/hooks.js";
import type { Awaitable, Outcome } from "../../contracts/types.js";
import type { Firing, HookPoint } from "./hook-point.js";
import { ExitEarlySignal } from "../../contracts/errors.js";

/** Checks a call that a tap has changed, before policies judge it. `undefined`: it is invalid. */
export interface Checker<P> {
  check?(changed: P): Awaitable<P | undefined>;
}

/** Whether the hook ends after a lane: because of a verdict, or of an invalid call. */
type LaneEnd = boolean | Promise<boolean>;

/** Runs the lanes of a before hook until a verdict. Returns a promise if a tap or check does. */
export function fireBefore<P>(
  hook: HookPoint,
  firing: Firing<P>,
  step: Checker<P>,
  from = 0,
): void | Promise<void> {
  const lanes = hook.usedLanes;
  for (let i = from; i < lanes.length; i++) {
    const lane = lanes[i] as LaneName; // the index is in range
    let end: LaneEnd = hook.fire(lane, firing);
    if (lane === "transform" && step.check !== undefined)
      end =
        end instanceof Promise
          ? end.then(() => checkChanges(firing, step))
          : checkChanges(firing, step);
    if (end instanceof Promise)
      return end.then((isEnded) => (isEnded ? undefined : fireBefore(hook, firing, step, i + 1)));
    if (end) return undefined;
  }
}

/** Checks a changed call. Returns whether it is invalid. */
function checkChanges<P>(firing: Firing<P>, step: Checker<P>): LaneEnd {
  return firing.replaced && checkCall(firing, step);
}

async function checkCall<P>(firing: Firing<P>, step: Checker<P>): Promise<boolean> {
  const checked = await step.check?.(firing.call);
  if (checked === undefined) firing.isInvalid = true;
  else firing.call = checked;
  return firing.isInvalid;
}

/**
 * Runs the lanes of an after hook. Policies judge only results. Reviews and commits run only for
 * completed work. After an early exit, the reviewed result is still judged and committed.
 */
export function fireAfter<P>(
  hook: HookPoint,
  firing: Firing<P>,
  outcome: Outcome,
  from = 0,
): void | Promise<void> {
  const lanes = hook.usedLanes;
  for (let i = from; i < lanes.length; i++) {
    const lane = lanes[i] as LaneName; // the index is in range
    const isDue = lane === "policy" ? !firing.readOnly : lane === "transform" || outcome === "ok";
    if (!isDue) continue;
    if (lane === "commit") firing.accepted = true; // later failures do not undo the work
    const end = lane === "review" ? review(hook, firing) : hook.fire(lane, firing);
    if (end instanceof Promise)
      return end.then((isEnded) => (isEnded ? undefined : fireAfter(hook, firing, outcome, i + 1)));
    if (end) return undefined;
  }
}

/** Fires the review lane. Policies judge a changed result again. Stores an early exit. */
function review<P>(hook: HookPoint, firing: Firing<P>): LaneEnd {
  const storeExit = (error: unknown): boolean => {
    if (!ExitEarlySignal.isInstance(error)) throw error;
    firing.earlyExit = error;
    return false;
  };
  const judge = (): LaneEnd => firing.replaced && hook.fire("policy", firing);
  firing.replaced = false;
  let reviewed: LaneEnd;
  try {
    reviewed = hook.fire("review", firing);
  } catch (error) {
    reviewed = storeExit(error);
  }
  return reviewed instanceof Promise ? reviewed.catch(storeExit).then(judge) : judge();
}
