import type { ClientSettings, Post } from "./endpoint.js";

/** The part of a vendor's client that is used. */
interface VendorClient {
  post(
    path: string,
    options: { readonly body: object; readonly signal: AbortSignal },
  ): { asResponse(): Promise<Response> };
}

interface ClientOptions {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly defaultHeaders: Readonly<Record<string, string | null>>;
  readonly maxRetries: number;
  readonly timeout: number;
  readonly fetch: ClientSettings["fetch"];
  readonly logLevel: "off";
}

/**
 * Returns a function that sends requests with a vendor's client. The client does not retry or log.
 */
export function postWith<Options extends object>(
  Client: new (options: ClientOptions & Options) => VendorClient,
  settings: ClientSettings,
  options: Options,
): Post {
  const client = new Client({
    apiKey: settings.apiKey,
    baseURL: settings.baseURL,
    defaultHeaders: settings.headers,
    maxRetries: 0,
    timeout: settings.timeoutMs,
    fetch: settings.fetch,
    logLevel: "off",
    ...options,
  });
  // Avoids the methods for single endpoints. Some of them print advice about models to the console
  // at any log level.
  return (path, body, signal) => client.post(path, { body, signal }).asResponse();
}
