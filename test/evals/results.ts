import type { CaseResult, EvaluationResult } from "../../src/evals/evaluation-result.js";
import { NO_SPENDING } from "../../src/evals/way-of-runs.js";

const WAY = {
  ...{ runIds: [], toolCalls: [], delegations: [], refusedDelegations: 0, conversations: [] },
  ...{ spending: NO_SPENDING, durationMs: 1 },
};

/** A result of one scorer `s` with one trial of each case. */
export function resultOf(n: number, valueOf: (i: number) => number): EvaluationResult {
  const cases: readonly CaseResult[] = Array.from({ length: n }, (_, i) => ({
    ...{ id: `case-${i}`, input: i, tags: [] },
    trials: [{ trial: 1, output: i, scores: { s: { value: valueOf(i) } }, way: WAY }],
  }));
  return {
    ...{ format: "agentensemble-evaluation", version: 1, name: "made", seed: 1, trials: 1 },
    ...{ startedAt: "2026-01-01T00:00:00.000Z", durationMs: 1, status: "complete" },
    dataset: { hash: "0".repeat(64), cases: n, selected: n },
    scores: [
      {
        ...{ scorer: "s", cases: n, scores: n, errors: 0, skipped: 0, passAt: 1 },
        ...{ passAtK: [], passHatK: [] },
      },
    ],
    spending: { target: NO_SPENDING, judges: NO_SPENDING },
    ...{ problems: [], problemCount: 0, cases },
  };
}
