import type { RunSummary } from "../../../src/contracts/run-store.js";
import { visibleText } from "./visible-text.js";

/** Milliseconds from the start of a run to its end, or to the present if it is in progress. */
export function runMs({ startedAt, endedAt }: RunSummary, nowMs: number): number {
  const start = Date.parse(startedAt);
  const end = endedAt === undefined ? nowMs : Date.parse(endedAt);
  return Number.isNaN(start) ? 0 : Math.max(0, end - start);
}

const ENDINGS: Readonly<Record<string, string>> = {
  CANCELLED: "cancelled",
  TIMEOUT: "out of time",
  USER_EXIT_EARLY: "ended early",
  EXIT_EARLY: "ended early",
  SUSPENDED: "waits to go on",
};

/** Returns the state of a run in words. Returns `undefined` if the usual word applies. */
export function runWord({ state, exitReason }: RunSummary): string | undefined {
  return state === "failed" || state === "running" ? undefined : ENDINGS[exitReason ?? ""];
}

/** Formats inputs in one line: `topic: heat pumps · day: 2026-11-21`. */
export function inputsText(inputs: RunSummary["inputs"]): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .map((text) => visibleText(text.replace(/\s+/g, " ")))
    .join(" · ");
}

/** The name of a run's ensemble or conversation. Runs of conversations have the tag `threadId`. */
export function runName({ ensemble, tags }: Pick<RunSummary, "ensemble" | "tags">): string {
  if (ensemble !== "") return visibleText(ensemble);
  return tags["threadId"] === undefined ? "unnamed ensemble" : "conversation";
}

/** The beginning of a run's id, without the name of its process. */
export function shortId({ runId, process }: Pick<RunSummary, "runId" | "process">): string {
  return runId.slice(process === undefined ? 0 : process.length + 1).slice(0, 8);
}
