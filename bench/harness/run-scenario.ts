import type { Line, Scenario, SideName } from "./scenario.js";
import type { Sample } from "./sample.js";
import { sampleOf } from "./sample.js";
import { SIDES } from "./scenario.js";
import { SideProcess } from "./side-process.js";

/** A line of the table with its measured values. */
export interface Row extends Line {
  readonly id: string;
  readonly sides: Readonly<Record<SideName, Sample>>;
}

/**
 * Measures a scenario. The rounds of all sides alternate: a disturbance of the machine affects all
 * sides.
 */
export async function runScenario(scenario: Scenario): Promise<readonly Row[]> {
  const processes = new Map<SideName, SideProcess>();
  const values: Record<SideName, (readonly number[])[]> = {
    promises: [],
    hooks: [],
    framework: [],
  };
  for (const side of SIDES) processes.set(side, await SideProcess.start(scenario, side));
  for (let round = 0; round < scenario.rounds; round++) {
    for (const [side, child] of processes) values[side].push(await child.round());
  }
  for (const child of processes.values()) await child.stop();
  return scenario.lines.map((line, index) => {
    const of = (side: SideName): Sample =>
      sampleOf(values[side].map((round) => round[index] ?? Number.NaN));
    return {
      ...line,
      id: scenario.id,
      sides: { promises: of("promises"), hooks: of("hooks"), framework: of("framework") },
    };
  });
}
