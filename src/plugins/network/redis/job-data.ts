import type { Job } from "bullmq";
import type { WorkRequest } from "../../../contracts/network.js";
import { checkWorkRequest } from "../shared/work-request.js";
import { asFields } from "../../../util/objects.js";

/** What the job of a request holds. */
export interface JobData {
  /** Absent in a job that is done, where it was large. */
  readonly request?: WorkRequest;
  readonly fingerprint: string;
  /** Names the call of `enqueue` that made the job. */
  readonly call: string;
  /** Milliseconds by the clock of Redis. */
  readonly acceptedAt: number;
  /** Deliveries that do not count. */
  readonly forgiven: number;
}

export type RequestJob = Job<JobData>;

/**
 * The request of a job.
 * @throws ValidationError for a job that another program has made in another form.
 */
export function requestIn({ data }: RequestJob): WorkRequest {
  const request: unknown = asFields(data)?.["request"];
  checkWorkRequest(request);
  return request;
}

/** Deliveries that count, with the present one. */
export function countedDeliveries({ data, attemptsStarted }: RequestJob): number {
  return attemptsStarted - data.forgiven;
}
