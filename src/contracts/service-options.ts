/** The names of the options that make an ensemble a service: the fields of `ServiceOptions`. */
export const SERVICE_OPTIONS = [
  ...(["shareTasks", "shareTools", "shareRun", "schedules"] as const),
  ...(["spread", "drainTimeoutMs", "maxConcurrentRequests", "maxQueuedRequests"] as const),
] as const;

/**
 * The pattern of names of ensembles and of shared tasks and tools. These names become parts of tool
 * names.
 */
export const SHARED_NAME = /^[A-Za-z0-9_-]{1,64}$/;
