import { createHash } from "node:crypto";
import type { NetworkBackend, WorkResponse } from "../../../contracts/network.js";

/**
 * The key in the result store under which a service keeps what a cancelled request has used: the
 * result itself was stored by the canceller, before the run had ended.
 */
export function cancelledUsageKey(requestId: string): string {
  return `usage:${createHash("sha256").update(requestId).digest("hex")}`;
}

/** The response, with what a cancelled request has used, as soon as that is known. */
export async function withCancelledUsage(
  { results }: Pick<NetworkBackend, "results">,
  response: WorkResponse,
): Promise<WorkResponse> {
  if (response.status !== "CANCELLED" || response.usage !== undefined) return response;
  const kept = await results.retrieve(cancelledUsageKey(response.requestId));
  return kept?.usage === undefined ? response : { ...response, usage: kept.usage };
}
