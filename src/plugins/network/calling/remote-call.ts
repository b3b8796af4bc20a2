import type { Remote, WorkRequest, WorkResponse } from "../../../contracts/network.js";
import type { QueueClock } from "../shared/clock-timer.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { startClockTimer } from "../shared/clock-timer.js";

/** A request and the wait for its result. */
export interface RemoteCall {
  readonly remote: Remote;
  readonly request: WorkRequest;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: QueueClock;
  readonly onProgress?: ((progress: unknown) => void) | undefined;
  /** Called each time the remote ensemble confirms that it has the request. */
  readonly onAccepted?: (() => void) | undefined;
}

/** The end of a wait for a result. An abort rejects with the reason of the signal. */
export type CallEnd =
  | { readonly kind: "response"; readonly response: WorkResponse }
  | { readonly kind: "full" }
  | { readonly kind: "late"; readonly lastError: NetworkError | undefined };

/**
 * Interval in milliseconds in which a request is sent again during the wait. Its store may have
 * lost the request.
 */
const RESEND_MS = 5_000;
/** Pauses in ms after failures of the connection. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** The signal of waits after the end of the caller. */
const NEVER_ABORTED = new AbortController().signal;
/** Timers may fire this many ms early. */
const TIMER_MS = 1;

/**
 * Sends a request and waits for its result. Repeats both, under the same id, after failures of the
 * connection.
 * @throws RequestConflictError, ValidationError and other permanent errors; the reason of `signal`.
 */
export async function callRemote(call: RemoteCall): Promise<CallEnd> {
  const { remote, request, clock, signal } = call;
  const end = clock.monotonicMs() + call.timeoutMs;
  const left = (): number => Math.max(0, end - clock.monotonicMs());
  let lastError: NetworkError | undefined;
  let wasSent = false;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted;) {
    try {
      const { status } = await remote.send(withTimeLeft(request, call.timeoutMs - left()));
      if (status === "FULL" && !wasSent) return { kind: "full" };
      wasSent = true;
      call.onAccepted?.();
      pauseMs = FIRST_PAUSE_MS;
      const waitMs = Math.min(left(), RESEND_MS);
      const { onProgress } = call;
      const response = await remote.response(request.requestId, {
        ...{ timeoutMs: waitMs, signal },
        ...(onProgress !== undefined && { onProgress }),
      });
      if (response !== undefined) return { kind: "response", response };
    } catch (error) {
      if (!NetworkError.isInstance(error) || error.isPermanent) throw error;
      lastError = error;
      await paused(Math.min(pauseMs, left()), clock, signal);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    if (left() <= TIMER_MS && !signal.aborted) return { kind: "late", lastError };
  }
  throw signal.reason;
}

/** Time limit in ms in which a service reports the usage of a cancelled request. */
const REPORT_MS = 1_000;

/**
 * Cancels a request. Returns its response with its usage. Returns `undefined` if the usage is not
 * known within a second.
 * @throws NetworkError if the service can't be reached
 */
export async function cancelRemote(
  { remote, clock }: Pick<RemoteCall, "remote" | "clock">,
  requestId: string,
  reason: string,
): Promise<WorkResponse | undefined> {
  await remote.cancel(requestId, reason);
  const end = clock.monotonicMs() + REPORT_MS;
  for (let pauseMs = FIRST_PAUSE_MS / 4; ; pauseMs *= 2) {
    const leftMs = end - clock.monotonicMs();
    if (leftMs <= 0) return undefined;
    const response = await remote.response(requestId, { timeoutMs: Math.ceil(leftMs) });
    if (response?.status !== "CANCELLED" || response.usage !== undefined) return response;
    await paused(Math.min(pauseMs, leftMs), clock, NEVER_ABORTED);
  }
}

/** Returns the request with the remaining time. Deadlines are sent as the remaining time. */
function withTimeLeft(request: WorkRequest, passedMs: number): WorkRequest {
  if (request.deadlineMs === undefined) return request;
  return { ...request, deadlineMs: Math.max(1, request.deadlineMs - passedMs) };
}

function paused(ms: number, clock: QueueClock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const stop = startClockTimer(clock, ms, end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
