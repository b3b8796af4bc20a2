import type { StreamResponse } from "@a2a-js/sdk";
import type { EnqueueReceipt, WorkRequest, WorkResponse } from "../../../../contracts/network.js";
import type { A2aSettings } from "./a2a-options.js";
import type { Agent } from "./agent.js";
import type { SeenEvent } from "./stream-reader.js";
import { RequestConflictError, NetworkError } from "../../../../contracts/network-errors.js";
import { WORK_VERSION } from "../../../../contracts/network.js";
import { preview } from "../../../../contracts/validation.js";
import { messageOfWork } from "../a2a/work-message.js";
import { startClockTimer } from "../clock-timer.js";
import { headersFor } from "./agent.js";
import { awayErrorOf, networkErrorOf, agentRefusalOf } from "./agent-errors.js";
import { randomShare } from "../../../../util/runtime.js";
import { AgentAwayError } from "./agent-traffic.js";
import { StreamReader } from "./stream-reader.js";

/** Delays in ms between repetitions, and between reads of a task without a stream. */
const FIRST_DELAY_MS = 100;
const MOST_DELAY_MS = 5_000;
/** Time limit in ms in which a service of this framework accepts a request. */
const ACCEPT_MS = 30_000;

/**
 * Time limit in ms in which a stream ends after its result, so that its connection can be reused.
 */
const END_MS = 1_000;

interface AgentCallOptions {
  readonly signal: AbortSignal;
  readonly serviceParameters: Record<string, string>;
}

/** The parts for the work of one request. */
export interface WorkLine {
  readonly settings: A2aSettings;
  /** Returns the agent. Its card is read once. */
  readonly connect: () => Promise<Agent>;
}

/** The content and the progress of a request. */
export interface KnownWork {
  readonly requestId: string;
  /** Absent for a request that another process has sent. */
  readonly request?: WorkRequest | undefined;
  /** The id of the task at the agent. Absent for a request that was not accepted yet. */
  readonly taskId?: string | undefined;
}

/** One request to an agent. Sends the request and follows it until it has a result. */
export class RemoteWork implements KnownWork {
  readonly requestId: string;
  readonly request: WorkRequest | undefined;
  /** Resolves when the agent has accepted or refused the request. */
  readonly receipt: Promise<EnqueueReceipt>;
  readonly result: Promise<WorkResponse>;
  readonly #line: WorkLine;
  readonly #end = new AbortController();
  readonly #hearers = new Set<(progress: unknown) => void>();
  readonly #sentMs: number;
  #taskId: string | undefined;
  /** Whether the agent executes a repeated message once. `undefined` until its card is read. */
  #isIdempotent: boolean | undefined;
  #accept: (receipt: EnqueueReceipt) => void = () => undefined;
  /** The time of the last answer of the agent. */
  #heardMs: number;
  #failures = 0;
  #looks = 0;
  #hasNoStream = false;
  #hasEnded = false;
  #reviewId: string | undefined;

  constructor(line: WorkLine, { requestId, request, taskId }: KnownWork) {
    this.#line = line;
    this.requestId = requestId;
    this.request = request;
    this.#taskId = taskId;
    this.#sentMs = this.#heardMs = line.settings.clock.monotonicMs();
    const accepted = new Promise<EnqueueReceipt>((resolve) => (this.#accept = resolve));
    this.result = this.#follow();
    this.receipt = Promise.race([accepted, this.result.then(() => accepted)]);
    const ended = (): void => void (this.#hasEnded = true);
    this.result.then(ended, ended); // waiters receive the error
    this.receipt.catch(() => undefined);
  }

  /** The id of the task at the agent, once it is known. */
  get taskId(): string | undefined {
    return this.#taskId;
  }

  /** Closes the connection. The request continues at the agent. */
  close(): void {
    if (this.#hasEnded) return;
    const isPermanent = this.#isIdempotent === false;
    this.#end.abort(new NetworkError("The connection to the agent was closed", { isPermanent }));
  }

  onProgress(fn: (progress: unknown) => void): () => void {
    this.#hearers.add(fn);
    return () => void this.#hearers.delete(fn);
  }

  async #follow(): Promise<WorkResponse> {
    const { settings } = this.#line;
    for (;;) {
      try {
        const agent = await this.#line.connect();
        this.#isIdempotent = agent.hasExtension;
        this.#end.signal.throwIfAborted();
        const isNew = this.#taskId === undefined && this.request !== undefined;
        const response = isNew ? await this.#send(agent) : await this.#resume(agent);
        if (response !== undefined) return response;
        await this.#pause(this.#looks++);
      } catch (error) {
        if (this.#end.signal.aborted) throw networkErrorOf(this.#end.signal.reason, settings);
        await this.#recover(error);
      }
    }
  }

  /** Prepares the next attempt. @throws NetworkError, RequestConflictError if there is none. */
  async #recover(error: unknown): Promise<void> {
    const { settings } = this.#line;
    const { clock, retryForMs } = settings;
    const refusal = agentRefusalOf(error);
    if (refusal?.name === "TaskNotFoundError" && this.#taskId !== undefined) {
      this.#forget();
      return this.#pause(this.#looks++);
    }
    if (refusal?.details["conflict"] === "content") throw new RequestConflictError(this.requestId);
    const away = awayErrorOf(error, settings);
    if (away === undefined || clock.monotonicMs() - this.#heardMs >= retryForMs)
      throw networkErrorOf(away ?? error, settings);
    if (away.status === 429) this.#hasNoStream = true;
    await this.#pause(this.#failures++, away.retryAfterMs);
  }

  /** Handles an agent that has lost the request. @throws NetworkError if it must not be repeated. */
  #forget(): void {
    const { requestId } = this;
    if (this.request === undefined)
      throw new NetworkError(`The agent does not know request '${requestId}'`);
    if (this.#isIdempotent !== true)
      throw new NetworkError(
        `The agent at ${this.#line.settings.origin} has lost task '${preview(this.#taskId)}' of request '${requestId}'`,
        {
          isPermanent: true,
          hint: "The request was not sent again, because the agent may execute it twice. Use a new requestId to send it again.",
        },
      );
    this.#taskId = undefined;
  }

  async #send(agent: Agent): Promise<WorkResponse | undefined> {
    try {
      const response = await this.#sent(agent);
      if (response !== undefined || this.#taskId !== undefined) return response;
      const { origin } = this.#line.settings;
      throw new AgentAwayError(`The agent at ${origin} answered without a task`, {
        isUnsent: false,
      });
    } catch (error) {
      throw agent.hasExtension || this.#taskId !== undefined ? error : this.#unrepeatable(error);
    }
  }

  async #sent(agent: Agent): Promise<WorkResponse | undefined> {
    const { request } = this;
    if (request === undefined) return undefined;
    const { hasExtension, client } = agent;
    const message = messageOfWork(this.#timely(request), hasExtension);
    const mayStream = agent.streams && !this.#hasNoStream;
    const configuration = {
      acceptedOutputModes: ["text/plain", "application/json"],
      taskPushNotificationConfig: undefined,
      returnImmediately: !mayStream,
    };
    const params = { tenant: "", message, configuration, metadata: undefined };
    if (mayStream)
      return this.#read(
        agent,
        (options) => client.sendMessageStream(params, options),
        hasExtension ? ACCEPT_MS : undefined,
      );
    const sent = await client.sendMessage(params, this.#options(agent));
    const payload =
      "messageId" in sent
        ? { $case: "message" as const, value: sent }
        : { $case: "task" as const, value: sent };
    return this.#take(this.#reader().read({ payload }));
  }

  /**
   * Returns the error of a message that an agent of another framework may have received. Such an
   * agent may execute a repeated message again.
   */
  #unrepeatable(error: unknown): unknown {
    const { settings } = this.#line;
    const away = awayErrorOf(error, settings);
    const failure = away ?? networkErrorOf(error, settings);
    if (failure.isPermanent || away?.isUnsent === true) return error;
    const doubt = `The agent at ${settings.origin} may or may not have accepted the request`;
    return new NetworkError(away === undefined ? failure.message : doubt, {
      cause: failure,
      isPermanent: true,
    });
  }

  /** Returns the request with the remaining time. */
  #timely(request: WorkRequest): WorkRequest {
    const { deadlineMs, traceContext: _, ...rest } = request;
    if (deadlineMs === undefined) return rest;
    const elapsed = this.#line.settings.clock.monotonicMs() - this.#sentMs;
    return { ...rest, deadlineMs: Math.max(1, Math.round(deadlineMs - elapsed)) };
  }

  /** Reads the task, then follows its stream. */
  async #resume(agent: Agent): Promise<WorkResponse | undefined> {
    const id = this.#taskId ?? (agent.hasExtension ? this.requestId : undefined);
    if (id === undefined)
      throw new NetworkError(`Request '${this.requestId}' was not sent by this process`);
    this.#taskId = id;
    const options = this.#options(agent);
    const { client } = agent;
    const task = await client.getTask({ tenant: "", id }, options);
    const response = this.#take(this.#reader().seen(task));
    if (response !== undefined || !agent.streams || this.#hasNoStream) return response;
    try {
      return await this.#read(agent, (o) => client.resubscribeTask({ tenant: "", id }, o));
    } catch (error) {
      if (agentRefusalOf(error) === undefined) throw error;
      this.#hasNoStream = true; // agents refuse the stream of a task that has just ended
      return undefined;
    }
  }

  /** Reads a stream to its end. Returns `undefined` if the stream ends without the result. */
  async #read(
    agent: Agent,
    open: (options: AgentCallOptions) => AsyncIterable<StreamResponse>,
    limitMs?: number,
  ): Promise<WorkResponse | undefined> {
    const left = new AbortController();
    const options = this.#options(agent);
    const { signal } = left;
    const close = (): void => left.abort(options.signal.reason);
    options.signal.addEventListener("abort", close, { once: true });
    if (options.signal.aborted) close();
    const reader = this.#reader();
    const { settings } = this.#line;
    const events = open({ ...options, signal })[Symbol.asyncIterator]();
    try {
      let next = await acceptedWithin(events.next(), limitMs, settings);
      for (; next.done !== true; next = await events.next()) {
        const seen = reader.read(next.value);
        if (seen.isIncomplete === true) return undefined;
        const response = this.#take(seen);
        if (response !== undefined) return response;
      }
      return undefined;
    } finally {
      void leave(events, left, settings).then(() =>
        options.signal.removeEventListener("abort", close),
      );
    }
  }

  #reader(): StreamReader {
    const { clock } = this.#line.settings;
    return new StreamReader(this.requestId, () => Math.round(clock.monotonicMs() - this.#sentMs));
  }

  /** Records an event. Returns the result, if it has arrived. */
  #take(seen: SeenEvent): WorkResponse | undefined {
    const { taskId, receipt, response, progress, review, question } = this.#clean(seen);
    this.#heardMs = this.#line.settings.clock.monotonicMs();
    this.#failures = 0;
    this.#taskId ??= taskId;
    if (progress !== undefined) this.#tell(progress);
    if (review !== undefined && review.reviewId !== this.#reviewId) {
      this.#reviewId = review.reviewId;
      this.#tell({ type: "review_requested", ...review });
    }
    const isFull = response?.status === "REJECTED" && response.reason === "AT_CAPACITY";
    this.#accept({
      status: isFull ? "FULL" : receipt === "DUPLICATE" ? "DUPLICATE" : "ACCEPTED",
    });
    return response ?? (question === undefined ? undefined : this.#asks(question));
  }

  /** Returns the event without the token. */
  #clean(seen: SeenEvent): SeenEvent {
    const { token, redact } = this.#line.settings;
    if (token === undefined) return seen;
    const text = JSON.stringify(seen);
    const clean = redact(text);
    return clean === text ? seen : (JSON.parse(clean) as SeenEvent); // only its texts differ
  }

  /** Returns the result for an agent that asks a question without a reviewer. */
  #asks(question: string): WorkResponse {
    const { clock } = this.#line.settings;
    return {
      v: WORK_VERSION,
      requestId: this.requestId,
      status: "FAILED",
      reason: "RUN_FAILED",
      error: `The agent asks for input: ${question}`,
      durationMs: Math.round(clock.monotonicMs() - this.#sentMs),
    };
  }

  #tell(progress: unknown): void {
    for (const hearer of this.#hearers) hearer(progress);
  }

  #options(agent: Agent): AgentCallOptions {
    const { traceparent, tracestate } = this.request?.traceContext ?? {};
    const headers = {
      ...headersFor(agent),
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
    };
    return { signal: this.#end.signal, serviceParameters: headers };
  }

  /**
   * Waits before an attempt. The wait doubles each time, is randomized, and is at least what the
   * agent requested.
   */
  #pause(attempt: number, leastMs = 0): Promise<void> {
    const full = Math.min(MOST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 10));
    // Callers must not repeat at the same time.
    const ms = Math.max(leastMs, full * (0.5 + randomShare() / 2));
    return new Promise((resolve) => {
      const { signal } = this.#end;
      const end = (): void => {
        stop();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const stop = startClockTimer(this.#line.settings.clock, ms, end);
      signal.addEventListener("abort", end, { once: true });
    });
  }
}

/** @throws AgentAwayError after the limit. */
function acceptedWithin<T>(
  work: Promise<T>,
  limitMs: number | undefined,
  { clock, origin }: A2aSettings,
): Promise<T> {
  if (limitMs === undefined) return work;
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(
        new AgentAwayError(`The agent at ${origin} has not accepted within ${limitMs} ms`, {
          isUnsent: false,
        }),
      );
    const stop = startClockTimer(clock, limitMs, late);
    work.then(resolve, reject).finally(stop);
  });
}

/** Reads a stream that is no longer needed to its end, or closes it. Never rejects. */
async function leave(
  events: AsyncIterator<unknown>,
  left: AbortController,
  { clock }: A2aSettings,
): Promise<void> {
  const stop = startClockTimer(clock, END_MS, () => left.abort());
  try {
    if ((await events.next()).done !== true) left.abort();
  } catch {
    // The stream has failed before, or was closed.
  } finally {
    stop();
  }
}
