import type { Journal, KeptRun } from "../../../contracts/journal.js";

/**
 * Number of consecutive executions without a new entry that ended with their process, from which a
 * run is poisoned.
 */
const MOST_FRUITLESS = 5;

/** Returns the number of these executions if the run is poisoned, otherwise `undefined`. */
export async function poisonOf(
  { runId, status, owner, executions, fruitlessExecutions }: KeptRun,
  journal: Pick<Journal, "entries">,
): Promise<number | undefined> {
  const mayBe = status === "running" && owner === undefined;
  if (!mayBe || fruitlessExecutions < MOST_FRUITLESS - 1) return undefined;
  // The count of the record does not include the last process that died.
  const entries = await journal.entries(runId);
  const isFruitless = entries.every(({ execution }) => execution !== executions);
  return isFruitless ? fruitlessExecutions + 1 : undefined;
}
