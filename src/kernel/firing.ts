import type { Outcome } from "../contracts/usage.js";
import type { HookPoint, LaneName } from "./hook-point.js";
import { ExitEarlySignal } from "../contracts/errors.js";
import { Firing } from "./hook-point.js";

type Warn = (message: string) => void;

type Check<P> = (changed: P) => Promise<P | undefined>;

/**
 * Runs a before hook: all lanes in order, until a verdict. `check` sees a call that a tap has changed before it is judged;
 * what it returns is judged instead, `undefined` ends the firing. Gives the firing itself, and no promise, where every tap answers at once.
 */
export function fireBefore<P>(point: HookPoint, call: P, warn: Warn, check?: Check<P>): Firing<P> | Promise<Firing<P>> {
  const firing = new Firing(call, warn);
  const { lanes } = point.definition;
  for (const [index, lane] of lanes.entries()) {
    const ended = point.fire(lane, firing);
    if (ended === true) break;
    if (ended !== false || isToCheck(firing, lane, check)) return resumeBefore(point, firing, index, ended, check);
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
  for (const [index, lane] of point.definition.lanes.entries()) {
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
export function fireAfter<P extends { readonly outcome: Outcome }>(point: HookPoint, call: P, warn: Warn): Firing<P> | Promise<Firing<P>> {
  const settled = call.outcome === "ok" || call.outcome === "answered";
  const firing = new Firing(call, warn, !settled);
  const transformed = point.fire("transform", firing);
  if (typeof transformed !== "boolean") return transformed.then(() => judge(point, firing, call.outcome));
  return judge(point, firing, call.outcome);
}

/** What follows the transform lane. */
function judge<P>(point: HookPoint, firing: Firing<P>, outcome: Outcome): Firing<P> | Promise<Firing<P>> {
  if (firing.observing) return firing;
  const refused = point.fire("policy", firing);
  const concludes = outcome === "ok" && (point.has("review") || point.has("commit"));
  if (refused === true || (refused === false && !concludes)) return firing;
  return conclude(point, firing, refused, concludes);
}

async function conclude<P>(point: HookPoint, firing: Firing<P>, refused: boolean | Promise<boolean>, concludes: boolean): Promise<Firing<P>> {
  if ((await refused) || !concludes) return firing;
  if (point.has("review")) {
    firing.replaced = false;
    await review(point, firing);
    if (firing.replaced && (await point.fire("policy", firing))) return firing;
  }
  await point.fire("commit", firing);
  return firing;
}

async function review<P>(point: HookPoint, firing: Firing<P>): Promise<void> {
  try {
    await point.fire("review", firing);
  } catch (error) {
    if (!ExitEarlySignal.isInstance(error)) throw error;
    firing.exit = error;
  }
}
