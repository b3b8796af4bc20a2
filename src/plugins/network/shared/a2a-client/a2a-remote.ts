import type {
  EnqueueReceipt,
  Remote,
  SharedCapability,
  WorkRequest,
  WorkResponse,
} from "../../../../contracts/network.js";
import type { SecretFilter } from "../../../../contracts/redaction.js";
import type { ReviewDecision } from "../../../../contracts/review.js";
import type { A2aOptions, A2aSettings } from "./a2a-options.js";
import type { Agent } from "./agent.js";
import type { KnownWork } from "./remote-work.js";
import { NetworkError, RequestConflictError } from "../../../../contracts/network-errors.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { checkOptions, knownNames, requireDelay } from "../../../../contracts/validation.js";
import { uuidGenerator } from "../../../../util/runtime.js";
import { WORK_EXTENSION } from "../a2a/protocol.js";
import { messageOfAnswer } from "../a2a/review-message.js";
import { startClockTimer } from "../clock-timer.js";
import { checkWorkRequest, workFingerprint } from "../work-request.js";
import { connectAgent, headersFor } from "./agent.js";
import { networkErrorOf, agentRefusalOf } from "./agent-errors.js";
import { AgentTraffic } from "./agent-traffic.js";
import { a2aSettings } from "./a2a-options.js";
import { RemoteWork } from "./remote-work.js";

/** Maximum number of requests whose result was not received. Beyond it, the oldest are closed. */
const MOST_OPEN = 1_000;
/** Answers that end the cancellation of a request that has ended or is unknown. */
const NOTHING_TO_CANCEL: ReadonlySet<unknown> = new Set([
  "TaskNotFoundError",
  "TaskNotCancelableError",
]);

type WaitOptions = Parameters<Remote["response"]>[1];

/**
 * Returns the A2A 1.0 agent at a URL: a service of this framework, or another agent. The skills of
 * another agent correspond to shared tasks. The agent card is read at the first request. Requests
 * are repeated under the same id, so that a service of this framework executes them once. Another
 * agent receives a request again only if it has not received it before. If another agent has lost
 * an accepted request, the request fails. Requires the package `@a2a-js/sdk`.
 *
 * @throws ValidationError for an invalid URL, and for an unknown or invalid option. Methods reject
 * with NetworkError if the agent can't be reached or used, and with RequestConflictError.
 */
export function a2a(url: string | URL, options: A2aOptions = {}): Remote {
  return new A2aRemote(a2aSettings(url, options));
}

class A2aRemote implements Remote {
  readonly name: string;
  readonly redact: SecretFilter;
  readonly #settings: A2aSettings;
  readonly #traffic: AgentTraffic;
  readonly #works = new Map<string, RemoteWork>();
  /** Works of accepted requests whose failure a caller has received. */
  readonly #failed = new WeakSet<RemoteWork>();
  readonly #end = new AbortController();
  #agent: Promise<Agent> | undefined;

  constructor(settings: A2aSettings) {
    this.name = settings.name;
    this.redact = settings.redact;
    this.#settings = settings;
    this.#traffic = new AgentTraffic(settings);
  }

  async send(request: WorkRequest): Promise<EnqueueReceipt> {
    checkWorkRequest(request);
    this.#requireOpen();
    const { requestId } = request;
    const known = this.#works.get(requestId);
    if (known?.request !== undefined) {
      if (workFingerprint(known.request) !== workFingerprint(request))
        throw new RequestConflictError(requestId);
      const work = this.#continued(known, request);
      try {
        await work.receipt;
      } catch (error) {
        this.#fail(work);
        throw error;
      }
      return { status: "DUPLICATE" };
    }
    const work = this.#begin({ requestId, request });
    try {
      const receipt = await work.receipt;
      if (receipt.status === "FULL") this.#drop(work);
      return receipt;
    } catch (error) {
      this.#fail(work);
      throw error;
    }
  }

  async response(requestId: string, options: WaitOptions): Promise<WorkResponse | undefined> {
    checkOptions("response()", options, ["timeoutMs", "signal", "onProgress"]);
    requireDelay("response() timeoutMs", options.timeoutMs ?? null);
    this.#requireOpen();
    const { timeoutMs, signal, onProgress } = options;
    if (signal?.aborted === true) return undefined;
    const known = this.#works.get(requestId);
    const work = known === undefined ? this.#begin({ requestId }) : this.#continued(known);
    const leave = onProgress === undefined ? undefined : work.onProgress(onProgress);
    let end: () => void = () => undefined;
    const ended = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
    const stop = startClockTimer(this.#settings.clock, timeoutMs, end);
    signal?.addEventListener("abort", end, { once: true });
    try {
      const response = await Promise.race([work.result, ended]);
      if (response !== undefined) this.#drop(work);
      return response;
    } catch (error) {
      this.#fail(work);
      throw error;
    } finally {
      leave?.();
      stop();
      signal?.removeEventListener("abort", end);
    }
  }

  decide(requestId: string, reviewId: string, decision: ReviewDecision): Promise<boolean> {
    const message = messageOfAnswer(
      uuidGenerator.next(),
      this.#taskIdOf(requestId),
      reviewId,
      asReviewDecision(decision),
    );
    return this.#unlessRefused("UnsupportedOperationError", async ({ client }, options) => {
      const configuration = {
        acceptedOutputModes: [],
        taskPushNotificationConfig: undefined,
        returnImmediately: true,
      };
      await client.sendMessage(
        { tenant: "", message, configuration, metadata: undefined },
        options,
      );
    });
  }

  cancel(requestId: string, reason?: string): Promise<boolean> {
    const id = this.#taskIdOf(requestId);
    const metadata = reason === undefined ? undefined : { [WORK_EXTENSION]: { reason } };
    return this.#unlessRefused(NOTHING_TO_CANCEL, async ({ client }, options) => {
      await client.cancelTask({ tenant: "", id, metadata }, options);
    });
  }

  async capabilities(): Promise<readonly SharedCapability[]> {
    this.#requireOpen();
    return (await this.#connect()).capabilities;
  }

  async close(): Promise<void> {
    this.#end.abort(new NetworkError("The connection to the agent was closed"));
    for (const work of this.#works.values()) work.close();
    this.#works.clear();
  }

  #begin(known: KnownWork): RemoteWork {
    const { requestId, request } = known;
    this.#works.delete(requestId);
    const [oldest] = this.#works.values();
    if (oldest !== undefined && this.#works.size >= MOST_OPEN) this.#drop(oldest);
    const connect = request === undefined ? () => this.#connect() : () => this.#offering(request);
    const work = new RemoteWork({ settings: this.#settings, connect }, known);
    this.#works.set(requestId, work);
    return work;
  }

  /** Returns the work. If a caller has received its failure, the new work follows its task. */
  #continued(work: RemoteWork, request = work.request): RemoteWork {
    if (!this.#failed.has(work)) return work;
    return this.#begin({ requestId: work.requestId, request, taskId: work.taskId });
  }

  /** Handles a work whose failure a caller has received. The tasks of accepted requests are kept. */
  #fail(work: RemoteWork): void {
    if (work.request === undefined || work.taskId === undefined) this.#drop(work);
    else this.#failed.add(work);
  }

  #drop(work: RemoteWork): void {
    work.close();
    if (this.#works.get(work.requestId) === work) this.#works.delete(work.requestId);
  }

  /** Returns the agent. A failed connection is tried again. */
  #connect(): Promise<Agent> {
    this.#agent ??= connectAgent(this.#settings, this.#traffic, this.#end.signal).catch(
      (error: unknown) => {
        this.#agent = undefined;
        throw error;
      },
    );
    return this.#agent;
  }

  /** Returns the agent if it has the skill. A service of this framework checks the skill itself. */
  async #offering({ task }: WorkRequest): Promise<Agent> {
    const agent = await this.#connect();
    const names = agent.capabilities.map(({ name }) => name);
    if (agent.hasExtension || names.includes(task)) return agent;
    throw new NetworkError(`The agent at ${this.#settings.origin} has no skill '${task}'`, {
      isPermanent: true,
      hint: knownNames(task, names),
    });
  }

  #taskIdOf(requestId: string): string {
    return this.#works.get(requestId)?.taskId ?? requestId;
  }

  /**
   * Returns whether the agent has accepted the call. Returns false if the agent refused it with one
   * of these errors.
   */
  async #unlessRefused(
    names: string | ReadonlySet<unknown>,
    call: (agent: Agent, options: AgentCallOptions) => Promise<void>,
  ): Promise<boolean> {
    this.#requireOpen();
    try {
      const agent = await this.#connect();
      await call(agent, { signal: this.#end.signal, serviceParameters: headersFor(agent) });
      return true;
    } catch (error) {
      const name = agentRefusalOf(error)?.name;
      if (name !== undefined && (typeof names === "string" ? name === names : names.has(name)))
        return false;
      throw networkErrorOf(error, this.#settings);
    }
  }

  #requireOpen(): void {
    if (this.#end.signal.aborted)
      throw new NetworkError("The connection to the agent is closed", { isPermanent: true });
  }
}

interface AgentCallOptions {
  readonly signal: AbortSignal;
  readonly serviceParameters: Record<string, string>;
}
