import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** What a vendor answers: a document, or the events of a stream. */
export interface VendorReply {
  /** Default 200. */
  readonly status?: number;
  readonly document?: object;
  /** Sent as server-sent events, one after the other. */
  readonly events?: readonly object[];
}

/** A request as the vendor sees it. */
export interface VendorRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A vendor's API, played by a server on this machine. */
export interface LoopbackVendor {
  /** The address without a path. */
  readonly url: string;
  readonly close: () => void;
}

function eventStream(events: readonly object[]): string {
  return [...events.map((event) => JSON.stringify(event)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`)
    .join("");
}

/** Starts a server that gives the answers of `reply`, so that an example needs neither a key nor a network. */
export async function playVendor(
  reply: (request: VendorRequest) => VendorReply,
): Promise<LoopbackVendor> {
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const body = JSON.parse(sent) as VendorRequest["body"]; // clients send JSON objects only
      const { status = 200, document = {}, events } = reply({ path: request.url ?? "", body });
      response.writeHead(status, {
        "content-type": events === undefined ? "application/json" : "text/event-stream",
      });
      response.end(events === undefined ? JSON.stringify(document) : eventStream(events));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
