import { FetchError } from "../../../contracts/state-errors.js";
import { decodeText } from "./charset.js";
import { shownUrl } from "./shown-url.js";

/**
 * A response, read completely or up to `maxBytes`. A response with an error status does not cause
 * an exception: check `ok`.
 */
export class SafeResponse {
  /** The URL of the response, after redirects. */
  readonly url: string;
  readonly status: number;
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  /** Names in lower case. The values of a repeated field are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** Without parameters, in lower case. Empty if the server sent none. */
  readonly contentType: string;
  /** The decompressed body. */
  readonly bytes: Uint8Array;
  /**
   * Whether only the first `maxBytes` bytes are present. Always false without `overflow: "cut"`.
   */
  readonly truncated: boolean;

  /** Created by the function that `safeFetch` returns. */
  constructor(
    url: URL,
    status: number,
    headers: ReadonlyMap<string, string>,
    body: { readonly bytes: Uint8Array; readonly truncated: boolean },
  ) {
    this.url = url.href;
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.headers = headers;
    this.contentType = mediaType(headers.get("content-type"));
    this.bytes = body.bytes;
    this.truncated = body.truncated;
  }

  /**
   * Returns the body as text. The encoding comes from its byte order mark, the content type, or the
   * meta element of a page. Default: UTF-8.
   */
  text(): string {
    return decodeText(this.bytes, this.headers.get("content-type") ?? "");
  }

  /** Parses the body as JSON. @throws FetchError for invalid JSON. */
  json(): unknown {
    try {
      return JSON.parse(this.text()) as unknown;
    } catch (cause) {
      throw new FetchError(
        `The answer of ${shownUrl(new URL(this.url))} is not JSON`,
        { reason: "bad_response" },
        { cause },
      );
    }
  }
}

/** Returns a content type without its parameters, in lower case. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
