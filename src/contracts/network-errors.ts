import type { ErrorDetails } from "./errors.js";
import { AgentEnsembleError } from "./errors.js";

/** A request has the id of an earlier request but different content. */
export class RequestConflictError extends AgentEnsembleError {
  readonly requestId: string;
  constructor(requestId: string, details: ErrorDetails = {}) {
    super("AE_REQUEST_CONFLICT", `Request '${requestId}' is known with other content`, {
      hint: "Use a new requestId for other content. The same content may be sent again.",
      ...details,
    });
    this.requestId = requestId;
  }
}

/** Another ensemble, the shared storage, or the address of a service could not be used. */
export class NetworkError extends AgentEnsembleError {
  /** The name of the ensemble, if the error concerns an ensemble. */
  readonly ensemble: string | undefined;
  /**
   * Whether the request must not be repeated. A repetition would also fail, for example after a
   * refused token, or another agent may execute the request twice.
   */
  readonly isPermanent: boolean;
  constructor(
    message: string,
    details: ErrorDetails & {
      readonly ensemble?: string | undefined;
      /** Default false. */
      readonly isPermanent?: boolean | undefined;
    } = {},
  ) {
    super("AE_NETWORK", message, details);
    this.ensemble = details.ensemble;
    this.isPermanent = details.isPermanent ?? false;
  }
}

/** An operation is not possible in the state of the service. */
export class ServiceStateError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_SERVICE_STATE", message, details);
  }
}
