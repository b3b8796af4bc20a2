import type { Outcome } from "../contracts/usage.js";
import type { HookPoint } from "./hook-point.js";
import { Firing } from "./hook-point.js";

type Warn = (message: string) => void;

/** Runs a before hook: all lanes in order, until a verdict. */
export async function fireBefore<P>(point: HookPoint, call: P, warn: Warn): Promise<Firing<P>> {
  const firing = new Firing(call, warn);
  for (const lane of point.definition.lanes) {
    if (point.has(lane) && (await point.fire(lane, firing))) break;
  }
  return firing;
}

/** Runs an after hook. Only a result is judged, reviewed and committed; a failure is shown to the transform lane and stays what it is. */
export async function fireAfter<P extends { readonly outcome: Outcome }>(point: HookPoint, call: P, warn: Warn): Promise<Firing<P>> {
  const settled = call.outcome === "ok" || call.outcome === "answered";
  const firing = new Firing(call, warn, !settled);
  await point.fire("transform", firing);
  if (!settled || (await point.fire("policy", firing)) || call.outcome !== "ok") return firing;
  if (point.has("review")) {
    firing.replaced = false;
    await point.fire("review", firing);
    if (firing.replaced && (await point.fire("policy", firing))) return firing;
  }
  await point.fire("commit", firing);
  return firing;
}
