import type { HookRun } from "../../../contracts/run.js";

/** Matches the prefixes that this file adds to a source. */
const KEPT = /^(?:memory written|lesson drawn|turn stored) after /;

/**
 * Records that a run has read data that were stored after external text had been read. `mark` is
 * the source recorded with the data.
 */
export function noteKeptSource(
  run: HookRun,
  kept: "memory written" | "lesson drawn" | "turn stored",
  mark: string,
): void {
  run.noteUntrusted(`${kept} after ${mark.replace(KEPT, "")}`);
}
