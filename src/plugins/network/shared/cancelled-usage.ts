import { createHash } from "node:crypto";
import type { NetworkBackend, WorkResponse } from "../../../contracts/network.js";

/**
 * Returns the key in the result store for the usage of a cancelled request. The canceller itself
 * stored the result before the end of the run.
 */
export function cancelledUsageKey(requestId: string): string {
  return `usage:${createHash("sha256").update(requestId).digest("hex")}`;
}

/** Returns the response with the usage of a cancelled request, as soon as it is known. */
export async function withCancelledUsage(
  { results }: Pick<NetworkBackend, "results">,
  response: WorkResponse,
): Promise<WorkResponse> {
  if (response.status !== "CANCELLED" || response.usage !== undefined) return response;
  const kept = await results.retrieve(cancelledUsageKey(response.requestId));
  return kept?.usage === undefined ? response : { ...response, usage: kept.usage };
}
