import { asFields } from "../../../util/objects.js";

/**
 * The codes of BullMQ for a job with another holder. The job is missing (-1) or in another state
 * (-3). Its lock is missing (-2) or has another holder (-6).
 */
const LOST = new Set<unknown>([-1, -2, -3, -6]);

/**
 * Returns the result of a change of a job by its holder. Returns false if the holder has changed.
 */
export async function ifHeld(change: () => Promise<boolean>): Promise<boolean> {
  try {
    return await change();
  } catch (error) {
    if (LOST.has(asFields(error)?.["code"])) return false;
    throw error;
  }
}
