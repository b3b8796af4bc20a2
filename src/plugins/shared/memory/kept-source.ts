import type { HookRun } from "../../../contracts/run.js";

/** The origins through which external text entered stored data. */
const KEPT = /^(?:memory written|lesson drawn) after /;

/**
 * Records that a run has read data that were stored after external text had been read. `mark`: the
 * source recorded with them.
 */
export function noteKeptSource(
  run: HookRun,
  kept: "memory written" | "lesson drawn",
  mark: string,
): void {
  run.noteUntrusted(`${kept} after ${mark.replace(KEPT, "")}`);
}
