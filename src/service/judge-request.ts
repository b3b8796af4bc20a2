import type { Lease, WorkRequest } from "../contracts/network.js";
import type { DeliveryParts } from "./delivery-parts.js";
import type { SharedWork } from "./shared-work.js";
import type { WorkFailure } from "./work-response.js";
import { checkWorkRequest } from "../plugins/network/shared/work-request.js";
import { messageOf } from "../util/errors.js";
import { jsonBytes } from "./work-response.js";

/** Maximum length of the path of a request. */
const MOST_HOPS = 8;
/** Time in ms for which a newer instance can take a request that this instance can't execute. */
const OTHERS_MS = 60_000;

/** The decision about a delivered request. */
export type RequestVerdict =
  | { readonly kind: "run"; readonly work: SharedWork }
  | { readonly kind: "answer"; readonly failure: WorkFailure }
  /** Returned to the queue for another instance. */
  | { readonly kind: "release"; readonly reason: string }
  | { readonly kind: "bury"; readonly failure: WorkFailure };

/** Returns the decision about a delivered request. Executes nothing. */
export function judgeRequest(
  lease: Lease,
  parts: Pick<DeliveryParts, "shared" | "settings" | "webhooks">,
): RequestVerdict {
  const { request, attempt } = lease;
  const { settings, shared } = parts;
  if (attempt > settings.maxAttempts)
    return bury("FAILED", "POISON", poisonText(settings.maxAttempts));
  try {
    checkWorkRequest(request);
  } catch (error) {
    return bury("REJECTED", "INVALID_INPUT", messageOf(error));
  }
  return earlyRefusal(lease, parts) ?? assigned(lease, shared);
}

/** Returns the text of a dead letter whose deliveries ended without a result. */
function poisonText(attempts: number): string {
  return `AE_RUN_POISONED: ${attempts} deliveries in a row ended with their process`;
}

function earlyRefusal(
  { request, waitedMs }: Lease,
  { settings, webhooks }: Pick<DeliveryParts, "settings" | "webhooks">,
): RequestVerdict | undefined {
  const { deadlineMs, path = [], delivery } = request;
  const size = jsonBytes(request);
  if (size > settings.maxMessageBytes)
    return rejectRequest(
      "TOO_LARGE",
      `The request has ${size} bytes, above ${settings.maxMessageBytes}`,
    );
  if (path.includes(settings.name) || path.length > MOST_HOPS)
    return rejectRequest("LOOP", `The request has passed ${path.join(", ")}`);
  if (deadlineMs !== undefined && waitedMs >= deadlineMs)
    return rejectRequest("EXPIRED", `The deadline of ${deadlineMs} ms was over after a wait`);
  if (delivery?.method === "WEBHOOK" && webhooks === undefined)
    return rejectRequest("INVALID_INPUT", "This service does not deliver results to webhooks");
  return undefined;
}

function assigned(lease: Lease, shared: ReadonlyMap<string, SharedWork>): RequestVerdict {
  const { request, waitedMs } = lease;
  const work = shared.get(request.task);
  const mismatch = work === undefined ? "UNKNOWN" : mismatchOf(work, request);
  if (work !== undefined && mismatch === undefined) return { kind: "run", work };
  const name = `'${request.task}'`;
  if (mismatch === "INVALID_INPUT")
    return rejectRequest("INVALID_INPUT", `${name} is no ${request.type} of this ensemble`);
  const text =
    mismatch === "VERSION"
      ? `This ensemble shares ${name} in another version than ${request.version ?? ""}`
      : `This ensemble does not share ${name}`;
  if (waitedMs < OTHERS_MS) return { kind: "release", reason: text };
  return rejectRequest(mismatch ?? "UNKNOWN", text);
}

function mismatchOf(
  { capability }: SharedWork,
  { type, version }: WorkRequest,
): "INVALID_INPUT" | "VERSION" | undefined {
  if (capability.type !== type) return "INVALID_INPUT";
  return version === undefined || version === capability.version ? undefined : "VERSION";
}

function rejectRequest(reason: WorkFailure["reason"], error: string): RequestVerdict {
  return { kind: "answer", failure: { status: "REJECTED", reason, error } };
}

function bury(
  status: WorkFailure["status"],
  reason: WorkFailure["reason"],
  error: string,
): RequestVerdict {
  return { kind: "bury", failure: { status, reason, error } };
}
