import type { HookRun } from "../../../contracts/run.js";

/** How text from outside came into what was kept. */
const KEPT = /^(?:memory written|lesson drawn) after /;

/** Notes that a run has read what was kept after text from outside had been read. `mark`: the source that was noted with it. */
export function noteKeptSource(
  run: HookRun,
  kept: "memory written" | "lesson drawn",
  mark: string,
): void {
  run.noteUntrusted(`${kept} after ${mark.replace(KEPT, "")}`);
}
