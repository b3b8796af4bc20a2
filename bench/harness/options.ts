import { parseArgs } from "node:util";

/** What the command line asks for. */
export interface BenchOptions {
  /** Scenarios to measure, by id. */
  readonly only: readonly string[];
  /** Whether a missed goal makes the process fail. */
  readonly assert: boolean;
  /** Whether the capture modes are compared instead. */
  readonly capture: boolean;
}

/** The scenarios that a name stands for: its own, and those of its parts. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  durable: ["durable", "durable-workers"],
};

/** Reads `--only S1,S4a`, `--assert` and `--capture`. @throws Error for an id that is not among `known`, TypeError for another argument. */
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
