import type { QueueState } from "../../contracts/network.js";
import type { WatchPlace } from "../../plugins/network/shared/task-watch.js";
import { PRIVATE_HEADERS } from "../../plugins/http/answers.js";
import { eventStream } from "../../plugins/network/shared/event-stream.js";
import { TaskWatch } from "../../plugins/network/shared/task-watch.js";

/** One stream of a client. */
export interface WorkStreamOptions {
  /** The state of the request when the stream begins. */
  readonly status: QueueState;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Called once when the stream ends. */
  readonly ended: () => void;
}

/**
 * Returns the state of a request, its progress, then its result, as server-sent events.
 * @throws NetworkError if the storage can't be reached.
 */
export async function workStream(
  place: Omit<WatchPlace, "reviews">,
  requestId: string,
  { status, signal, ended }: WorkStreamOptions,
): Promise<Response> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal.addEventListener("abort", leave, { once: true });
  const watch = await TaskWatch.open({ ...place, reviews: undefined }, requestId, {
    signal: left.signal,
    hears: "all",
  });
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    leave();
    signal.removeEventListener("abort", leave);
    watch.close();
    ended();
  };
  const source = {
    events: eventsOf(watch, status),
    failed: () => ({ type: "failed" }),
    ended: end,
  };
  return new Response(eventStream(source, place.clock), {
    headers: { ...PRIVATE_HEADERS, "Content-Type": "text/event-stream" },
  });
}

async function* eventsOf(watch: TaskWatch, status: QueueState): AsyncGenerator<unknown, void> {
  yield { type: "status", status };
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
    if (event.kind === "progress") yield event.progress;
    else {
      const { kind } = event;
      yield kind === "result" ? { type: kind, response: event.response } : { type: kind };
      return;
    }
  }
}
