import { getEventListeners } from "node:events";

/** How many timers of this process are running. */
export function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

/** How many listeners wait for the end of a signal. */
export function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
