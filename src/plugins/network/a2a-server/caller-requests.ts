import type * as core from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { Principal } from "../../../contracts/http-route.js";
import type {
  EnqueueReceipt,
  SharedCapability,
  WorkRequest,
  WorkResponse,
} from "../../../contracts/network.js";
import type { TraceContext } from "../../../contracts/propagation.js";
import type { A2aErrorVendor } from "../shared/a2a/protocol.js";
import type { PushNotifications } from "../shared/a2a/push-notifications.js";
import type { TaskName } from "../shared/a2a/task-ids.js";
import type { TaskSight } from "../shared/a2a/work-task.js";
import type { AnswerOutcome, ReviewDesk } from "./review-desk.js";
import type { WatchEvent, WatchPlace } from "../shared/task-watch.js";
import { ValidationError } from "../../../contracts/errors.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import { RequestConflictError } from "../../../contracts/network-errors.js";
import { messageOf } from "../../../util/errors.js";
import { A2A_TASK } from "../shared/a2a/push-configs.js";
import { extensionFields } from "../shared/a2a/parts.js";
import { WORK_EXTENSION } from "../shared/a2a/protocol.js";
import { answerInMessage } from "../shared/a2a/review-message.js";
import { taskIdOf, taskNameOf } from "../shared/a2a/task-ids.js";
import { cancelReasonOf, workOfMessage } from "../shared/a2a/work-message.js";
import { hasEnded } from "../shared/a2a/work-response.js";
import {
  endEvents,
  endedWorkTask,
  openWorkTask,
  progressEvent,
  reviewEvent,
  taskEvent,
} from "../shared/a2a/work-task.js";
import { withCancelledUsage } from "../shared/cancelled-usage.js";
import { storedIdOf } from "../shared/stored-ids.js";
import { transportOf } from "../shared/transport.js";
import { requireRequestId } from "../shared/work-request.js";
import { TaskWatch } from "../shared/task-watch.js";
import { PushDesk, type WirePushConfig, type WirePushName } from "./push-desk.js";

/** Time in ms after which a full queue may accept a request. */
const RETRY_MS = 1_000;

/** The state that the requests of all callers share. */
export interface RequestDesk extends WatchPlace {
  readonly reviews: ReviewDesk;
  readonly resultTtlMs: number;
  /** `undefined` if the service sends no push notifications. */
  readonly push: PushNotifications | undefined;
  /** The shared tasks and tools of the ensemble. */
  readonly capabilities: () => readonly SharedCapability[];
  readonly enqueue: (
    request: WorkRequest,
    principal: Principal,
  ) => Promise<EnqueueReceipt | QuotaReceipt>;
}

/** The answer for a caller that has used its quota. */
interface QuotaReceipt {
  readonly status: "QUOTA";
  readonly problem: string;
  readonly retryAfterMs: number;
}

/** One HTTP request. */
export interface AskedCall {
  readonly principal: Principal;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly traceContext: TraceContext | undefined;
  /** Whether the client supports the extension. Its streams then continue after a question. */
  readonly hasExtension: boolean;
}

type Receipt = "ACCEPTED" | "DUPLICATE";

/** An accepted request, or the task with the reason of its refusal. */
type Sent =
  { readonly name: TaskName; readonly receipt: Receipt } | { readonly rejected: core.Task };

type TaskStream = AsyncGenerator<core.StreamResponse, void, undefined>;

/** Answers the methods of the protocol for one HTTP request, with the queue and the results. */
export class CallerRequests implements A2ARequestHandler {
  /** An internal failure that the client did not cause. */
  failure: unknown;
  readonly #desk: RequestDesk;
  readonly #asked: AskedCall;
  readonly #errors: A2aErrorVendor;
  readonly #push: PushDesk;
  /** The last created stored id, because one HTTP request is about one task. */
  #stored: { readonly messageId: string; readonly id: string } | undefined;

  constructor(desk: RequestDesk, asked: AskedCall, errors: A2aErrorVendor) {
    this.#desk = desk;
    this.#asked = asked;
    this.#errors = errors;
    this.#push = new PushDesk(desk.push, errors, {
      signal: asked.signal,
      requestIdOf: (taskId) => this.#storedId(taskNameOf(taskId)),
      hasEnded: async (taskId) => hasEnded(await this.#taskOf(taskNameOf(taskId))),
    });
  }

  sendMessage(params: core.SendMessageRequest): Promise<core.Task> {
    return this.#noting(async () => {
      const message = this.#messageOf(params);
      const sent = await this.#sent(message, params.configuration);
      if ("rejected" in sent) return sent.rejected;
      const isKnown = sent.receipt === "DUPLICATE";
      if (params.configuration?.returnImmediately === true)
        return isKnown ? this.#taskOf(sent.name) : openWorkTask(this.#sightOf(sent.name), "QUEUED");
      return this.#settled(sent.name);
    });
  }

  async *sendMessageStream(params: core.SendMessageRequest): TaskStream {
    const { message, watch } = await this.#noting(async () => {
      const asked = this.#messageOf(params);
      const { taskId } = asked;
      const name = taskNameOf(taskId === "" ? taskIdOf(asked) : taskId);
      // The watch starts before the work begins.
      return { message: asked, watch: await this.#watch(name, "all") };
    });
    try {
      const sent = await this.#noting(() => this.#sent(message, params.configuration));
      if ("rejected" in sent) yield taskEvent(sent.rejected);
      else yield* this.#followed(watch, sent.name, sent.receipt);
    } finally {
      watch.close();
    }
  }

  async *resubscribe({ id }: core.SubscribeToTaskRequest): TaskStream {
    const name = taskNameOf(id);
    const watch = await this.#noting(() => this.#watch(name, "all"));
    try {
      yield* this.#followed(watch, name, undefined);
    } finally {
      watch.close();
    }
  }

  getTask({ id }: core.GetTaskRequest): Promise<core.Task> {
    return this.#noting(() => this.#taskOf(taskNameOf(id)));
  }

  cancelTask({ id, metadata }: core.CancelTaskRequest): Promise<core.Task> {
    return this.#noting(async () => {
      const name = taskNameOf(id);
      const { ensemble, backend, resultTtlMs } = this.#desk;
      const task = await this.#taskOf(name);
      if (hasEnded(task)) throw new this.#errors.TaskNotCancelableError(`Task '${id}' has ended`);
      const transport = transportOf(ensemble, backend, { resultTtlMs });
      await transport.cancel(this.#storedId(name), cancelReasonOf(metadata));
      return this.#taskOf(name);
    });
  }

  async listTasks(): Promise<never> {
    throw new this.#errors.UnsupportedOperationError("This agent does not list tasks");
  }

  async getAgentCard(): Promise<never> {
    throw new this.#errors.UnsupportedOperationError("The card is at /.well-known/agent-card.json");
  }

  async getAuthenticatedExtendedAgentCard(): Promise<never> {
    throw new this.#errors.ExtendedAgentCardNotConfiguredError();
  }

  createTaskPushNotificationConfig(given: WirePushConfig): Promise<WirePushConfig> {
    return this.#noting(() => this.#push.create(given));
  }

  getTaskPushNotificationConfig({ taskId, id }: WirePushName): Promise<WirePushConfig> {
    return this.#noting(() => this.#push.get(taskId, id));
  }

  listTaskPushNotificationConfigs({
    taskId,
  }: core.ListTaskPushNotificationConfigsRequest): Promise<core.ListTaskPushNotificationConfigsResponse> {
    return this.#noting(async () => ({
      configs: await this.#push.list(taskId),
      nextPageToken: "",
    }));
  }

  deleteTaskPushNotificationConfig({ taskId, id }: WirePushName): Promise<void> {
    return this.#noting(() => this.#push.remove(taskId, id));
  }

  /** Sends a message and its push configuration. */
  #sent(message: core.Message, configuration?: core.SendMessageConfiguration): Promise<Sent> {
    const { taskId } = message;
    const send = async (): Promise<Sent> =>
      taskId === ""
        ? this.#accepted(message)
        : { name: await this.#answered(message), receipt: "DUPLICATE" };
    const given = configuration?.taskPushNotificationConfig;
    if (given === undefined) return send();
    return this.#push.sending(
      { ...given, taskId: taskId === "" ? taskIdOf(message) : taskId },
      send,
    );
  }

  #messageOf({ message }: core.SendMessageRequest): core.Message {
    if (message === undefined) throw this.#malformed("The request has no message");
    try {
      requireRequestId(message.messageId);
      if (message.contextId !== "") requireRequestId(message.contextId);
    } catch (error) {
      throw this.#malformed(messageOf(error).replace("requestId", "messageId and contextId"));
    }
    return message;
  }

  /** Enqueues the request of a message. */
  async #accepted(message: core.Message): Promise<Sent> {
    const { ensemble, capabilities, enqueue } = this.#desk;
    const { principal, traceContext } = this.#asked;
    const name = taskNameOf(taskIdOf(message));
    const { may } = principal;
    const shared = capabilities();
    const work = workOfMessage(message, {
      requestId: this.#storedId(name),
      from: principal.name,
      to: ensemble,
      capabilities: may === undefined ? shared : shared.filter((one) => may.includes(one.name)),
      traceContext,
    });
    if ("problem" in work) return this.#rejected(message, work.reason, work.problem);
    try {
      const asking: WorkRequest = {
        ...work.request,
        reviews: "forward", // asked with `input-required`
        ...(this.#desk.push !== undefined && { [A2A_TASK]: taskIdOf(name) }),
      };
      const receipt = await enqueue(asking, principal);
      const { status } = receipt;
      if (status === "QUOTA")
        return this.#rejected(message, status, receipt.problem, receipt.retryAfterMs);
      if (status !== "FULL") return { name, receipt: status };
      return this.#rejected(message, "AT_CAPACITY", "Too many requests wait", RETRY_MS);
    } catch (error) {
      if (error instanceof RequestConflictError)
        throw new this.#errors.RequestMalformedError({
          message: `Message '${message.messageId}' is known with other content`,
          metadata: { conflict: "content" },
        });
      if (error instanceof ValidationError)
        return this.#rejected(message, "INVALID_INPUT", error.message);
      throw error;
    }
  }

  #rejected(
    message: core.Message,
    reason: WorkResponse["reason"],
    error: string,
    retryAfterMs?: number,
  ): Sent {
    const response: WorkResponse = {
      v: WORK_VERSION,
      requestId: message.messageId,
      status: "REJECTED",
      reason,
      error,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      durationMs: 0,
    };
    return { rejected: endedWorkTask(this.#sightOf(taskNameOf(taskIdOf(message))), response) };
  }

  /** Passes the answer in a message to the review of its task. */
  async #answered(message: core.Message): Promise<TaskName> {
    const { principal } = this.#asked;
    const name = taskNameOf(message.taskId);
    await this.#taskOf(name); // the caller may answer only tasks that it has sent
    const answer = answerInMessage(message, principal.name);
    if ("problem" in answer) throw this.#malformed(answer.problem);
    const { reviewId, decision } = answer;
    const runId = this.#storedId(name);
    const outcome = await this.#desk.reviews.answer({ runId, reviewId }, decision, principal);
    if (outcome !== "resolved") throw this.#notAnswered(reviewId, outcome);
    return name;
  }

  #notAnswered(reviewId: string, outcome: Exclude<AnswerOutcome, "resolved">): Error {
    if (outcome === "unknown")
      return this.#malformed(`The task has no review '${reviewId}' that waits`);
    const message = {
      denied: `The answer to review '${reviewId}' requires a role`,
      decided: `Review '${reviewId}' was answered before`,
      over: `Review '${reviewId}' is over`,
    }[outcome];
    return new this.#errors.UnsupportedOperationError({ message, metadata: { outcome } });
  }

  /** Returns the task when it has ended or asks a question. */
  async #settled(name: TaskName): Promise<core.Task> {
    const watch = await this.#watch(name, "questions");
    try {
      const review = await this.#desk.reviews.pendingOf(this.#storedId(name));
      if (review !== undefined) return openWorkTask(this.#sightOf(name), "LEASED", review);
      const event = await watch.next();
      if (event?.kind === "result") return endedWorkTask(this.#sightOf(name), event.response);
      if (event?.kind === "review")
        return openWorkTask(this.#sightOf(name), "LEASED", event.review);
      throw this.#notFound(name);
    } finally {
      watch.close();
    }
  }

  /** Yields the current task, then its events until it has ended. */
  async *#followed(watch: TaskWatch, name: TaskName, receipt: Receipt | undefined): TaskStream {
    const task = await this.#noting(async () =>
      receipt === "ACCEPTED" ? openWorkTask(this.#sightOf(name), "QUEUED") : this.#taskOf(name),
    );
    if (receipt !== undefined)
      task.metadata = { [WORK_EXTENSION]: { ...extensionFields(task.metadata), receipt } };
    yield taskEvent(task);
    if (hasEnded(task)) return;
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      yield* this.#eventsOf(name, event);
      if (event.kind === "result") return;
      const isSent = receipt !== undefined;
      if (event.kind === "review" && isSent && !this.#asked.hasExtension) return;
    }
  }

  #eventsOf(name: TaskName, event: WatchEvent): readonly core.StreamResponse[] {
    const sight = this.#sightOf(name);
    if (event.kind === "result") return endEvents(sight, event.response);
    if (event.kind === "review") return [reviewEvent(sight, event.review)];
    if (event.kind === "progress") return [progressEvent(sight, event.progress)];
    throw this.#notFound(name);
  }

  /** Returns the task. @throws TaskNotFoundError for a request that this caller did not send. */
  async #taskOf(name: TaskName): Promise<core.Task> {
    const { backend, ensemble, reviews } = this.#desk;
    const storedId = this.#storedId(name);
    const sight = this.#sightOf(name);
    const result = await backend.results.retrieve(storedId);
    if (result !== undefined)
      return endedWorkTask(sight, await withCancelledUsage(backend, result));
    const state = await backend.queue.status(ensemble, storedId);
    if (state === "QUEUED") return openWorkTask(sight, state);
    if (state === "LEASED") return openWorkTask(sight, state, await reviews.pendingOf(storedId));
    const meanwhile = state === undefined ? undefined : await backend.results.retrieve(storedId);
    if (meanwhile === undefined) throw this.#notFound(name);
    return endedWorkTask(sight, meanwhile);
  }

  #watch(name: TaskName, hears: "all" | "questions"): Promise<TaskWatch> {
    const { signal } = this.#asked;
    return TaskWatch.open(this.#desk, this.#storedId(name), { signal, hears });
  }

  #storedId({ messageId }: TaskName): string {
    if (this.#stored?.messageId !== messageId)
      this.#stored = { messageId, id: storedIdOf(this.#asked.principal.name, messageId) };
    return this.#stored.id;
  }

  #sightOf(name: TaskName): TaskSight {
    const at = this.#desk.clock.now().toISOString();
    return { id: taskIdOf(name), contextId: name.contextId, at };
  }

  #notFound(name: TaskName): Error {
    return new this.#errors.TaskNotFoundError(`Task '${this.#sightOf(name).id}' is unknown`);
  }

  #malformed(message: string): Error {
    return new this.#errors.RequestMalformedError(message);
  }

  /**
   * Executes `work`. Records errors that are not answers of the protocol, because clients do not
   * receive their texts.
   */
  async #noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof this.#errors.A2AError)) this.failure = error;
      throw error;
    }
  }
}
