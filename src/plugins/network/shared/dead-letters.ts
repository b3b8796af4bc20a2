import type { NetworkBackend } from "../../../contracts/network.js";
import { preview, requireText } from "../../../contracts/validation.js";
import { cutText } from "../../../util/text.js";

/** Characters of the reason of a dead letter. */
const LONGEST_REASON = 1_500;

/** How the reason of a dead letter begins whose result is kept, but did not reach its webhook. */
export const UNDELIVERED = "WEBHOOK_UNDELIVERED";

/**
 * Queues a dead letter again, and forgets its result, so that it is executed again. Only the
 * delivery is repeated where just the webhook was not reached. `name`: of the ensemble. Returns false if there is none.
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
  if (letter?.reason.startsWith(UNDELIVERED) !== true) await results.forget(requestId); // before: its next holder would find the result
  return queue.redrive(name, requestId);
}

/** The reason of a dead letter as it is kept: cut after 1,500 characters. @throws ValidationError for a blank one. */
export function letterReason(reason: string): string {
  requireText(reason, `reason of a dead letter must not be blank, got: ${preview(reason)}`);
  return cutText(reason, LONGEST_REASON, "");
}
