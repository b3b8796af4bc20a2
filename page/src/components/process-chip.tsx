import type { JSX } from "preact";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import { visibleText } from "../lib/visible-text.js";
import { Chip } from "./chip.js";

/**
 * The process that reports a run, and whether it is disconnected. Draws nothing for a run of the
 * serving program.
 */
export function ProcessChip({
  process,
  isAway,
}: Pick<RunSummary, "process" | "isAway">): JSX.Element | null {
  if (process === undefined) return null;
  const name = visibleText(process);
  if (isAway !== true)
    return (
      <Chip kind="line" title={`The process ${name} reports this run`}>
        {name}
      </Chip>
    );
  return (
    <Chip kind="waiting" icon="clock" title={`The process ${name} is not connected`}>
      {name} away
    </Chip>
  );
}
