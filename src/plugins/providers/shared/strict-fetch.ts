/** A fetch function as the platform has it. */
export type FetchFunction = typeof globalThis.fetch;

/** How much of the body of a refusal is read: enough for any real error document. */
const ERROR_BODY_LIMIT = 64 * 1024;

/** The server answered, but not with success. Carries what the vendor clients would lose: headers and the body as it came. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    super(`status ${status}`);
    this.name = "HttpFailure";
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

async function readStart(response: Response, limit: number): Promise<string> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.length < limit) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text.slice(0, limit);
}

/**
 * A fetch that resolves for success only, and does not follow redirects (they would carry the key elsewhere).
 * Without `inner` the platform's fetch is looked up at each call.
 * @throws HttpFailure for every other status; the error of `inner` where there was no answer.
 */
export function strictFetch(inner: FetchFunction | undefined): FetchFunction {
  return async (input, init) => {
    const response = await (inner ?? globalThis.fetch)(input, { ...init, redirect: "manual" });
    if (response.ok) return response;
    // A body that breaks off does not change what the status says.
    const body = await readStart(response, ERROR_BODY_LIMIT).catch(() => "");
    throw new HttpFailure(response.status, response.headers, body);
  };
}
