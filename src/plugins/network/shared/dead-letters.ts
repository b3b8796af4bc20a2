import type { NetworkBackend } from "../../../contracts/network.js";
import { preview, requireText } from "../../../contracts/validation.js";
import { cutText } from "../../../util/text.js";

/** Maximum number of characters of the reason of a dead letter. */
const LONGEST_REASON = 1_500;

/**
 * Prefix of the reason of a dead letter whose result is stored, but could not be sent to its
 * webhook.
 */
export const UNDELIVERED = "WEBHOOK_UNDELIVERED";

/**
 * Queues a dead letter again, and removes its result, so that it is executed again. Repeats only
 * the delivery if the webhook could not be reached. `name` is the name of the ensemble. Returns
 * false if there is no such dead letter.
 * @throws NetworkError if the backend can't be reached.
 */
export async function redriveLetter(
  { queue, results }: NetworkBackend,
  name: string,
  requestId: string,
): Promise<boolean> {
  if ((await queue.status(name, requestId)) !== "DEAD") return false;
  const letters = await queue.deadLetters(name);
  const letter = letters.find(({ request }) => request.requestId === requestId);
  // The result is removed first, because the next holder would otherwise find it.
  if (letter?.reason.startsWith(UNDELIVERED) !== true) await results.forget(requestId);
  return queue.redrive(name, requestId);
}

/**
 * Returns the stored form of a reason, cut after 1,500 characters.
 * @throws ValidationError for a blank reason.
 */
export function letterReason(reason: string): string {
  requireText(reason, `reason of a dead letter must not be blank, got: ${preview(reason)}`);
  return cutText(reason, LONGEST_REASON, "");
}
