import { parseArgs } from "node:util";

/** What the command line asks for. */
export interface BenchOptions {
  /** Scenarios to measure, by id. */
  readonly only: readonly string[];
  /** Whether a missed goal makes the process fail. */
  readonly assert: boolean;
}

/** Reads `--only S1,S4a` and `--assert`. @throws Error for an id that is not among `known`, TypeError for another argument. */
export function readOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  const { values } = parseArgs({ args: [...args], options: { only: { type: "string", multiple: true }, assert: { type: "boolean", default: false } } });
  const only = (values.only ?? known).flatMap((list) => list.split(",")).map((id) => id.trim());
  const unknown = only.find((id) => !known.includes(id));
  if (unknown !== undefined) throw new Error(`Unknown scenario '${unknown}'. Known: ${known.join(", ")}`);
  return { only, assert: values.assert };
}
