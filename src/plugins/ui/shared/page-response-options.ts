import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** Options of a response with a stream. */
export interface PageResponseOptions {
  /** The HTTP status. Default 200. */
  readonly status?: number | undefined;
  /**
   * Headers in addition to those of the protocol. A header with the same name replaces the
   * protocol's header.
   */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/** @throws ValidationError for a status that allows no body, and for invalid headers. */
export function checkPageResponse(what: string, { status, headers }: PageResponseOptions): void {
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new ValidationError(`${what} status must be from 200 to 599, got: ${preview(status)}`);
  if (status === 204 || status === 205 || status === 304)
    throw new ValidationError(`${what} status ${status} has no body`);
  try {
    new Headers(headers);
  } catch (cause) {
    throw new ValidationError(`${what} headers must be HTTP headers, got: ${preview(headers)}`, {
      cause,
    });
  }
}
