import type { Job } from "bullmq";
import type { WorkRequest } from "../../../contracts/network.js";
import { checkWorkRequest } from "../shared/work-request.js";
import { asFields } from "../../../util/objects.js";

/** The data of the job of a request. */
export interface JobData {
  /** The request. Absent in a done job whose request was large. */
  readonly request?: WorkRequest;
  readonly fingerprint: string;
  /** Identifies the call of `enqueue` that created the job. */
  readonly call: string;
  /** Time of acceptance in milliseconds by the clock of Redis. */
  readonly acceptedAt: number;
  /** Number of deliveries that do not count. */
  readonly forgiven: number;
}

export type RequestJob = Job<JobData>;

/**
 * Returns the request of a job.
 * @throws ValidationError for a job of another program with another form.
 */
export function requestIn({ data }: RequestJob): WorkRequest {
  const request: unknown = asFields(data)?.["request"];
  checkWorkRequest(request);
  return request;
}

/** Returns the number of counted deliveries, including the current one. */
export function countedDeliveries({ data, attemptsStarted }: RequestJob): number {
  return attemptsStarted - data.forgiven;
}
