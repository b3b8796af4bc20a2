import type { ChatMessage } from "../contracts/chat-model.js";
import type {
  ConversationStore,
  StoredTurn,
  ThreadHead,
  ThreadSummary,
  TurnResult,
  TurnStatus,
} from "../contracts/conversation.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { ChatProgress } from "../plugins/agents/chat/index.js";
import type { ConversationCore } from "./conversation-core.js";
import type { OnTurnFailure, TurnOptions } from "./conversation-options.js";
import type { TurnInput } from "./turn-input.js";
import {
  ConversationConflictError,
  ConversationStoreError,
} from "../contracts/conversation-errors.js";
import { AgentEnsembleError, RunCancelledError, ValidationError } from "../contracts/errors.js";
import { messageOf } from "../util/errors.js";
import { acceptedMessages, partialMessages, storedTurnOf, TURN_TASK } from "./turn-record.js";
import type { TurnRun } from "./turn-run.js";

/** What a turn is about. */
export interface TurnRequest {
  readonly threadId: string;
  readonly owner: string | undefined;
  readonly options: TurnOptions;
  /** Finds what to send. `base`: the thread before the turn, which an edit shortens. */
  readonly prepare: (store: ConversationStore, head: ThreadHead | undefined) => Promise<TurnPlan>;
}

/** What to send, and after how many turns. */
export interface TurnPlan {
  readonly input: TurnInput;
  /** The turns that stay. */
  readonly keep: number;
}

/** What is known of a turn while it runs. */
class TurnWork {
  readonly progress: ChatProgress = { added: () => [], finishReason: "other" };
  /** A summary that the window made. */
  summary: ThreadSummary | undefined;
  /** The text of the model call in progress. */
  #text = "";

  /** Follows the text of the answer. */
  listen(event: EnsembleEvent): void {
    if (!("taskId" in event) || event.taskId !== TURN_TASK) return;
    if (event.type === "token") this.#text += event.token;
    else if (TEXT_ENDS.includes(event.type)) this.#text = "";
  }

  /** What had been added when the turn ended without an answer. */
  partial(): readonly ChatMessage[] {
    return partialMessages(this.progress.added(), this.#text);
  }
}

const TEXT_ENDS: readonly string[] = [
  "llm_iteration_started",
  "llm_iteration_completed",
  "retry_scheduled",
];

/** Does one turn: waits for its place, runs it, stores it. */
export class Turn {
  readonly #core: ConversationCore;
  readonly #request: TurnRequest;
  readonly #run: TurnRun;
  readonly #work = new TurnWork();

  constructor(core: ConversationCore, request: TurnRequest, run: TurnRun) {
    this.#core = core;
    this.#request = request;
    this.#run = run;
  }

  /** @throws the error of the run; ThreadBusyError, ConversationConflictError, ConversationStoreError. */
  async perform(): Promise<TurnResult> {
    const { threadId } = this.#request;
    await this.#core.ready();
    const { store } = this.#core;
    const lock = await this.#run.whileWaiting((signal) =>
      store.lock?.(threadId, { timeoutMs: this.#core.busyTimeoutMs, signal }),
    );
    try {
      return await this.#locked(store);
    } finally {
      await lock?.release();
    }
  }

  async #locked(store: ConversationStore): Promise<TurnResult> {
    const { threadId, owner, options, prepare } = this.#request;
    const head = await this.#core.openOwned(threadId, owner);
    if (options.messageId !== undefined) await this.#refuseTwin(store, options.messageId);
    const { input, keep } = await prepare(store, head);
    const agent = this.#core.agentFor(options.agent);
    const startedAt = this.#core.now();
    const output = await this.#run.execute({
      agent,
      input,
      listen: (event) => this.#work.listen(event),
      turn: {
        content: input.content,
        progress: this.#work.progress,
        see: (reader) => this.#core.seenBy(reader, { store, threadId, head, keep }, this.#work),
      },
    });
    const { status, added, text } = this.#outcome(output);
    const stored = storedTurnOf({
      n: keep,
      turnId: output.runId,
      at: startedAt,
      status,
      agentRole: agent.role,
      messageId: options.messageId,
      content: input.content,
      added,
      output,
    });
    const result = this.#result(stored, output, text);
    if (status === "completed" || this.#onFailure === "keep")
      await this.#store(store, head, stored, result);
    if (output.error !== undefined && options.throwOnError !== false) throw output.error;
    return result;
  }

  get #onFailure(): OnTurnFailure {
    return this.#request.options.onFailure ?? this.#core.onFailure;
  }

  #outcome(output: EnsembleOutput): {
    readonly status: TurnStatus;
    readonly added: readonly ChatMessage[];
    readonly text: string;
  } {
    const answer = output.taskOutputs.find(({ taskId }) => taskId === TURN_TASK);
    if (answer !== undefined && output.error === undefined)
      return {
        status: "completed",
        added: acceptedMessages(this.#work.progress.added(), answer.raw),
        text: answer.raw,
      };
    const { error } = output;
    const isCancelled = error === undefined || RunCancelledError.find(error) !== undefined;
    const added = this.#work.partial();
    const last = added.at(-1);
    const text = last?.role === "assistant" ? last.content : "";
    return { status: isCancelled ? "cancelled" : "failed", added, text };
  }

  #result(stored: StoredTurn, output: EnsembleOutput, text: string): TurnResult {
    return Object.freeze({
      threadId: this.#request.threadId,
      turnId: stored.turnId,
      status: stored.status,
      text,
      agentRole: stored.agentRole,
      finishReason: this.#work.progress.finishReason,
      messages: stored.messages,
      output,
      ...(output.error !== undefined && { error: output.error }),
    });
  }

  async #store(
    store: ConversationStore,
    head: ThreadHead | undefined,
    turn: StoredTurn,
    result: TurnResult,
  ): Promise<void> {
    const { threadId, owner } = this.#request;
    const { summary } = this.#work;
    const expectedVersion = head?.version ?? 0;
    try {
      await store.append(threadId, {
        expectedVersion,
        turns: [turn],
        ...(head !== undefined && turn.n < head.turns && { keep: turn.n }),
        ...(summary !== undefined && { summary }),
        ...(head === undefined && owner !== undefined && { owner }),
      });
    } catch (cause) {
      if (ConversationConflictError.isInstance(cause))
        throw new ConversationConflictError(threadId, expectedVersion, { cause, result });
      throw new ConversationStoreError(
        `The answer of thread '${threadId}' could not be stored: ${messageOf(cause)}`,
        { threadId, operation: "append" },
        { cause, result, hint: AgentEnsembleError.isInstance(cause) ? cause.hint : undefined },
      );
    }
  }

  /** A page that sends a message twice pays once. */
  async #refuseTwin(store: ConversationStore, messageId: string): Promise<void> {
    const turns = await store.read(this.#request.threadId, { limit: 50 });
    if (turns.some(({ messages }) => messages.some(({ id }) => id === messageId)))
      throw new ValidationError(`The thread has a message '${messageId}' already`, {
        hint: "Each message needs its own messageId; leave it out to get one.",
      });
  }
}
