import { parseArgs } from "node:util";

/** The options of the command line. */
export interface BenchOptions {
  /** Scenarios to measure, by id. */
  readonly only: readonly string[];
  /** Whether the process fails if a goal is missed. */
  readonly assert: boolean;
  /** Whether to compare the capture modes instead. */
  readonly capture: boolean;
}

/** The scenarios of a name that selects several parts. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  durable: ["durable", "durable-workers"],
};

/**
 * Reads `--only S1,S4a`, `--assert` and `--capture`. @throws Error for an id that is not in
 * `known`; TypeError for another argument.
 */
export function readOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: "string", multiple: true }, assert: flag, capture: flag },
  });
  const only = (values.only ?? known).flatMap((list) => list.split(",")).map((id) => id.trim());
  const unknown = only.find((id) => !known.includes(id));
  if (unknown !== undefined)
    throw new Error(`Unknown scenario '${unknown}'. Known: ${known.join(", ")}`);
  return {
    only: only.flatMap((id) => PARTS[id] ?? [id]),
    assert: values.assert,
    capture: values.capture,
  };
}
