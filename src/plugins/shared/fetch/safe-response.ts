import { FetchError } from "../../../contracts/state-errors.js";
import { decodeText } from "./charset.js";
import { shownUrl } from "./shown-url.js";

/** An answer, read to its end (or to `maxBytes`). Answers with an error status are answers too: look at `ok`. */
export class SafeResponse {
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly status: number;
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  /** Names in lower case; the values of a repeated field are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** Without its parameters, in lower case; empty when the server did not say. */
  readonly contentType: string;
  /** Decompressed. */
  readonly bytes: Uint8Array;
  /** Whether only the first `maxBytes` are there: with `overflow: "cut"` alone. */
  readonly truncated: boolean;

  /** Made by the function that `safeFetch` gives. */
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

  /** The body as text: in the charset that its beginning, the content type or the page names, else UTF-8. */
  text(): string {
    return decodeText(this.bytes, this.headers.get("content-type") ?? "");
  }

  /** The body's JSON. @throws FetchError when it is none. */
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

/** A content type without its parameters, in lower case. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
