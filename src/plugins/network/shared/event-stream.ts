import type { Clock } from "../../../contracts/runtime.js";
import { startClockTimer } from "./clock-timer.js";

/**
 * Time in ms without an event after which a comment is sent, because proxies and clients close idle
 * streams.
 */
const IDLE_MS = 15_000;
const COMMENT = ":\n\n";

/** The events of one response. */
export interface EventSource {
  readonly events: AsyncIterator<unknown>;
  /** Returns the event for an error of `events`. */
  readonly failed: (error: unknown) => unknown;
  /** Called once when the stream ends or the client disconnects. */
  readonly ended: () => void;
}

/** Returns a body of server-sent events, at the pace of its reader. */
export function eventStream(
  { events, failed, ended }: EventSource,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const line = (event: unknown): Uint8Array => encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
  let next: Promise<IteratorResult<unknown>> | undefined;
  let stop = (): void => undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          next ??= events.next();
          const idle = new Promise<undefined>((resolve) => {
            stop = startClockTimer(clock, IDLE_MS, () => resolve(undefined));
          });
          const result = await Promise.race([next, idle]);
          stop();
          if (result === undefined) return controller.enqueue(encoder.encode(COMMENT));
          next = undefined;
          if (result.done !== true) return controller.enqueue(line(result.value));
        } catch (error) {
          stop();
          controller.enqueue(line(failed(error)));
        }
        ended();
        controller.close();
      },
      cancel() {
        stop();
        ended();
      },
    },
    { highWaterMark: 0 },
  );
}
