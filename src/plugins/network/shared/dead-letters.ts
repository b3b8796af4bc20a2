import type { NetworkBackend } from "../../../contracts/network.js";

/** How the reason of a dead letter begins whose result is kept, but did not reach its webhook. */
export const UNDELIVERED = "WEBHOOK_UNDELIVERED";

/**
 * Queues a dead letter again, and forgets its result, so that it is executed again. Only the
 * delivery is repeated where just the webhook was not reached. Returns false if there is none.
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
