import type { Authenticate } from "../../contracts/http-route.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  preview,
  requireArray,
  requireDuration,
  requireFunction,
  requireInteger,
} from "../../contracts/validation.js";

/** The options common to all request handlers. */
export interface HttpOptions {
  /**
   * Returns the principal of a request, determined from the headers. If it returns `undefined` or
   * fails, the request is refused with 401. It must not read the body.
   */
  readonly authenticate: Authenticate;
  /** The path of the handler. Default: `/api/chat`, `/api/run` or `/api/chat/reviews`. */
  readonly path?: string | undefined;
  /** Limit of the size of a body in bytes. Default 48 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Time limit for receiving a body, in milliseconds. Default 30,000. */
  readonly bodyTimeoutMs?: number | undefined;
  /**
   * Origins of other sites whose pages may call the handler, for instance
   * `https://app.example.com`. Default: none.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Returns the message that the client receives for an error of the server. Called with every such
   * error. Default: a text without details.
   */
  readonly onError?: ((error: Error) => string) | undefined;
}

/** The complete options. */
export interface HttpSettings {
  readonly authenticate: Authenticate;
  readonly path: string;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly onError: ((error: Error) => string) | undefined;
}

export const HTTP_OPTIONS: readonly (keyof HttpOptions)[] = [
  "authenticate",
  "path",
  "maxBodyBytes",
  "bodyTimeoutMs",
  "allowedOrigins",
  "onError",
];

const MAX_BODY_BYTES = 48 * 1024 * 1024;
const BODY_TIMEOUT_MS = 30_000;

/** @throws ValidationError for a value out of range, and without `authenticate`. */
export function httpSettingsOf(what: string, o: HttpOptions, defaultPath: string): HttpSettings {
  const { authenticate, path = defaultPath, allowedOrigins = [] } = o;
  if (authenticate === undefined)
    throw new ValidationError(`${what} needs authenticate: without it every client could call it`, {
      hint: 'Return the principal of a request, or undefined. For trials on this machine alone: authenticate: loopbackOnly({ name: "me", role: "operator" }).',
    });
  requireFunction(`${what} authenticate`, authenticate);
  requireFunction(`${what} onError`, o.onError);
  requireInteger(`${what} maxBodyBytes`, o.maxBodyBytes, 1);
  requireDuration(`${what} bodyTimeoutMs`, o.bodyTimeoutMs);
  requireArray(`${what} allowedOrigins`, o.allowedOrigins);
  if (typeof path !== "string" || !/^(\/[\w.~-]+)+$/.test(path))
    throw new ValidationError(`${what} path must be like ${defaultPath}, got: ${preview(path)}`);
  for (const origin of allowedOrigins)
    if (typeof origin !== "string" || !URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new ValidationError(
        `${what} allowedOrigins must be origins like https://app.example.com, got: ${preview(origin)}`,
      );
  return {
    authenticate,
    path,
    maxBodyBytes: o.maxBodyBytes ?? MAX_BODY_BYTES,
    bodyTimeoutMs: o.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
    allowedOrigins: new Set(allowedOrigins),
    onError: o.onError,
  };
}
