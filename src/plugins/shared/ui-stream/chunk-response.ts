import type { UIChunk } from "../../../contracts/ui-stream.js";

/** The source of the parts of a response. */
export interface ChunkSource {
  /** Returns the next part. `undefined` after the last one. */
  next(): Promise<UIChunk | undefined>;
  /** Called when the reader has disconnected. */
  leave(): void;
}

/** Options for sending parts. */
export interface ChunkResponseInit {
  readonly status?: number | undefined;
  /** Replaces headers of the protocol. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  /** The protocol. For `ui` a header names its version, and the stream ends with `[DONE]`. */
  readonly protocol: "ui" | "ag-ui";
}

/** The header that identifies the protocol for the AI SDK. */
const UI_VERSION = ["x-vercel-ai-ui-message-stream", "v1"] as const;

/** Converts parts to a stream, at the pace of its reader. */
export function chunkStream(source: ChunkSource): ReadableStream<UIChunk> {
  return pulledStream(source, (chunk) => chunk);
}

/** Sends parts as server-sent events. */
export function chunkResponse(source: ChunkSource, init: ChunkResponseInit): Response {
  const { status = 200, protocol } = init;
  const headers = new Headers({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no", // prevents buffering by a proxy
  });
  if (protocol === "ui") headers.set(...UI_VERSION);
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  const encoder = new TextEncoder();
  const done = protocol === "ui" ? encoder.encode("data: [DONE]\n\n") : undefined;
  const encode = (chunk: UIChunk): Uint8Array =>
    encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
  return new Response(pulledStream(source, encode, done), { status, headers });
}

function pulledStream<T>(
  source: ChunkSource,
  encode: (chunk: UIChunk) => T,
  last?: T,
): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const chunk = await source.next();
        if (chunk !== undefined) return controller.enqueue(encode(chunk));
        if (last !== undefined) controller.enqueue(last);
        controller.close();
      },
      cancel: () => source.leave(),
    },
    { highWaterMark: 0 },
  );
}
