import type { Inputs } from "../../../contracts/types.js";
import type { Service } from "../../../contracts/service.js";
import type { RunAcceptedBody } from "../protocol/control-bodies.js";
import { RequestConflictError } from "../../../contracts/network-errors.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import { messageOf } from "../../../util/errors.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";

/** A run to be executed by a service. */
export interface ServiceRun {
  readonly runId: string;
  /** The requester. */
  readonly from: string;
  readonly inputs: Inputs;
  readonly timeoutMs: number | undefined;
}

/** Returns whether a service executes runs of its whole ensemble. */
export function sharesRuns(service: Service): boolean {
  return service.entry().capabilities.some(({ type }) => type === "RUN");
}

/**
 * Queues a run in the storage of a service. One of the processes of the service executes the run.
 * @throws HttpRefusal 429 while the queue is full, 503 if the storage fails
 */
export async function queueRun(
  { backend, name }: Service,
  { runId, from, inputs, timeoutMs }: ServiceRun,
): Promise<RunAcceptedBody> {
  const request = {
    v: WORK_VERSION,
    requestId: runId,
    from,
    to: name,
    type: "RUN",
    task: "run",
    inputs,
    ...(timeoutMs !== undefined && { deadlineMs: timeoutMs }),
  } as const;
  try {
    const { status } = await backend.queue.enqueue(name, request);
    if (status !== "FULL") return { runId, status: "ACCEPTED", ensemble: name };
  } catch (error) {
    if (RequestConflictError.isInstance(error)) throw error;
    throw new HttpRefusal(
      503,
      "STORE_UNAVAILABLE",
      `The storage of requests failed: ${messageOf(error)}`,
      { headers: { "Retry-After": "5" } },
    );
  }
  throw new HttpRefusal(429, "QUEUE_FULL", "The queue of the service is full", {
    headers: { "Retry-After": "5" },
  });
}
