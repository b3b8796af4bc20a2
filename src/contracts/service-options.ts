/** The names of the options that make an ensemble a service: the fields of `ServiceOptions`. */
export const SERVICE_OPTIONS = [
  ...(["shareTasks", "shareTools", "shareRun", "schedules"] as const),
  ...(["spread", "drainTimeoutMs", "maxConcurrentRequests", "maxQueuedRequests"] as const),
] as const;

/** Names of ensembles, and of what they share: both are part of tool names. */
export const SHARED_NAME = /^[A-Za-z0-9_-]{1,64}$/;
