/** Ensembles as services: the storage that services share, and calls of shared tasks and tools. */
export {
  NetworkBackend,
  RequestQueue,
  ResultStore,
  Transport,
} from "./plugins/network/shared/backends.js";
export {
  NetworkError,
  RequestConflictError,
  ServiceStateError,
} from "./contracts/network-errors.js";
export { redriveLetter } from "./plugins/network/shared/dead-letters.js";
export { sharedLimits } from "./plugins/network/limits/index.js";
export { webhook } from "./plugins/network/ingress/webhook.js";
export type { WebhookDelivery, WebhookIngressOptions } from "./plugins/network/ingress/webhook.js";
export { defineProgram } from "./ensemble/define-program.js";
export type { QueueLimits, QueueOptions } from "./contracts/queue-options.js";
export type {
  Program,
  ProgramEnsemble,
  ProgramFunction,
  ProgramOptions,
} from "./ensemble/define-program.js";
export { NetworkTokens, WORK_VERSION } from "./contracts/network.js";
export type { BackendParts } from "./plugins/network/shared/backend-of.js";
export type { SignedBackendOptions } from "./plugins/network/shared/signed-backend.js";
export type { FileBackendOptions } from "./plugins/network/shared/file/file-backend.js";
export type { QueueClock } from "./plugins/network/shared/clock-timer.js";
export type { LocalBackendOptions } from "./plugins/network/shared/local-options.js";
export type { TransportOptions } from "./plugins/network/shared/transport.js";
export {
  network,
  NetworkTask,
  NetworkTool,
  NetworkTools,
} from "./plugins/network/calling/index.js";
export type {
  AgentPlace,
  EnsemblePlace,
  NetworkCallCache,
  NetworkCallInfo,
  NetworkCallOptions,
  NetworkOptions,
  NetworkPlugin,
  NetworkRequestOptions,
  NetworkToolProvider,
  RecordingTool,
  RequestContent,
} from "./plugins/network/calling/index.js";
