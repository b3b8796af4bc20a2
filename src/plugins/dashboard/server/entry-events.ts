import type { Board } from "../board.js";
import type { ReadableRun } from "../stores/board-runs.js";
import type { BoardExchange } from "./answers.js";

/** Number of characters after which entries are sent. */
const BATCH_LENGTH = 64 * 1024;

/**
 * Counts an event stream, and calls `end` when the server ends. Returns a function that ends the
 * count.
 * @throws HttpRefusal 503 if there are too many
 */
export type CountedStream = (end: () => void) => () => void;

/**
 * Options of a stream of server-sent events with each entry of a run after a number, until the run
 * ends.
 */
interface StreamOptions extends Pick<BoardExchange, "request"> {
  readonly after: number;
  readonly openStream: CountedStream;
}

/**
 * Sends `id`, `event` and `data` of each full entry, at the pace of the client. Returns status 204
 * if nothing will follow, so that clients stop reconnecting.
 */
export function entryEvents(
  { feed }: Pick<Board, "feed">,
  run: ReadableRun,
  { request, after, openStream }: StreamOptions,
): Response {
  if (run.ended && after >= run.n) return new Response(null, { status: 204 });
  let next = after + 1;
  let isOver = false;
  let wake: () => void = () => undefined;
  const close = openStream(() => end());
  const stopListening = feed.listen({
    onEntry: (log) => {
      if (log === run) wake();
    },
  });
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    stopListening();
    close();
    wake();
  };
  request.signal.addEventListener("abort", end, { once: true });
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (next > run.n && !run.ended && !isOver)
          await new Promise<void>((resolve) => (wake = resolve));
        if (next > run.n || isOver) {
          end();
          return request.signal.aborted ? undefined : controller.close();
        }
        let text = "";
        for (; next <= run.n && text.length < BATCH_LENGTH; next++)
          text += eventText(next, run.text(next, "full"));
        controller.enqueue(encoder.encode(text));
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
}

function eventText(n: number, entry: string): string {
  const { type } = JSON.parse(entry) as { readonly type: string }; // an entry of the framework
  return `id: ${n}\nevent: ${type.replace(/[\r\n]/g, " ")}\ndata: ${entry}\n\n`;
}
