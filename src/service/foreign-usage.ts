import type { ForeignUsage, UsageRecord } from "../contracts/usage.js";
import { roundedCost } from "../contracts/cost.js";

type Counts = "inputTokens" | "outputTokens" | "cachedInputTokens" | "reasoningTokens";
const COUNTS: readonly Counts[] = [
  "inputTokens",
  "outputTokens",
  "cachedInputTokens",
  "reasoningTokens",
];

/**
 * Adds up the usage of a run for its caller, one entry for each model. Calls with an unknown count
 * have a separate entry without that count.
 */
export function foreignUsageOf(
  ledger: readonly UsageRecord[],
  source: string,
): readonly ForeignUsage[] {
  const sums = new Map<string, ForeignUsage>();
  for (const record of ledger) {
    const known = COUNTS.filter((name) => record[name] >= 0);
    const key = JSON.stringify([
      record.source,
      record.provider,
      record.modelId,
      record.cost === undefined ? null : (record.currency ?? "USD"),
      known,
    ]);
    sums.set(key, addedUsage(sums.get(key), record, { source: record.source ?? source, known }));
  }
  return [...sums.values()];
}

function addedUsage(
  sum: ForeignUsage | undefined,
  record: UsageRecord,
  { source, known }: { readonly source: string; readonly known: readonly Counts[] },
): ForeignUsage {
  const { provider, modelId, calls = 1, cost, currency } = record;
  const counts = Object.fromEntries(known.map((name) => [name, (sum?.[name] ?? 0) + record[name]]));
  return {
    source,
    provider,
    modelId,
    ...counts,
    calls: (sum?.calls ?? 0) + calls,
    ...(cost !== undefined && { cost: roundedCost((sum?.cost ?? 0) + cost) }),
    ...(currency !== undefined && { currency }),
  };
}
