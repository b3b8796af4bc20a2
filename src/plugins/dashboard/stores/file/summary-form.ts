import type { RunSummary } from "../../../../contracts/run-store.js";
import { asFields, isObject } from "../../../../util/objects.js";

const STATES: ReadonlySet<unknown> = new Set(
  "running waiting done failed stopped interrupted".split(" "),
);

/** Returns a summary from a file. Returns `undefined` for any other value. */
export function asSummary(value: unknown): RunSummary | undefined {
  const { runId, ensemble, workflow, state, startedAt, n, inputs, tags, counts, totals } =
    asFields(value) ?? {};
  const isSound =
    [runId, ensemble, workflow].every((text) => typeof text === "string") &&
    STATES.has(state) &&
    typeof startedAt === "string" &&
    Number.isSafeInteger(n) &&
    [inputs, tags, counts, totals].every(isObject);
  return isSound ? (value as RunSummary) : undefined; // checked above
}
