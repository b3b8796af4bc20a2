import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** The answer of a vendor: a document, or the events of a stream. */
export interface VendorReply {
  /** Default 200. */
  readonly status?: number;
  readonly document?: object;
  /** Sent as server-sent events, in order. */
  readonly events?: readonly object[];
}

/** A request that the vendor received. */
export interface VendorRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A vendor's API, simulated by a server on this machine. */
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

/**
 * Starts a server that sends the answers of `reply`. An example then needs no key and no network.
 */
export async function playVendor(
  reply: (request: VendorRequest) => VendorReply,
): Promise<LoopbackVendor> {
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const body = JSON.parse(sent) as VendorRequest["body"]; // clients send only JSON objects
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
