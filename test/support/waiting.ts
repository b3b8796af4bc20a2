import { getEventListeners } from "node:events";

/** The number of running timers of this process. */
export function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

/** The number of listeners for the end of a signal. */
export function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
