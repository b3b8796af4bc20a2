import type { Outcome } from "../contracts/usage.js";
import type { HookPoint } from "./hook-point.js";
import { ExitEarlySignal } from "../contracts/errors.js";
import { Firing } from "./hook-point.js";

type Warn = (message: string) => void;

/**
 * Runs a before hook: all lanes in order, until a verdict. `check` sees a call that a tap has changed before it is judged;
 * what it returns is judged instead, `undefined` ends the firing.
 */
export async function fireBefore<P>(point: HookPoint, call: P, warn: Warn, check?: (changed: P) => Promise<P | undefined>): Promise<Firing<P>> {
  const firing = new Firing(call, warn);
  for (const lane of point.definition.lanes) {
    if (point.has(lane) && (await point.fire(lane, firing))) break;
    if (lane !== "transform" || !firing.replaced || check === undefined) continue;
    const checked = await check(firing.call);
    if (checked === undefined) break;
    firing.call = checked;
  }
  return firing;
}

/**
 * Runs an after hook. Only a result is judged, reviewed and committed; a failure is shown to the transform lane and stays what it is.
 * A review that ends the run is told to the caller in `exit`: the result it has seen is judged and committed as any other.
 */
export async function fireAfter<P extends { readonly outcome: Outcome }>(point: HookPoint, call: P, warn: Warn): Promise<Firing<P>> {
  const settled = call.outcome === "ok" || call.outcome === "answered";
  const firing = new Firing(call, warn, !settled);
  await point.fire("transform", firing);
  if (!settled || (await point.fire("policy", firing)) || call.outcome !== "ok") return firing;
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
