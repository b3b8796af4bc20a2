import type {
  ConversationStore,
  StoredTurn,
  ThreadHead,
  ThreadLock,
  ThreadSummary,
  TurnResult,
  TurnStatus,
} from "../contracts/conversation.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { HookRun } from "../contracts/run.js";
import type { UsageRecord } from "../contracts/usage.js";
import type { ChatProgress, ChatTurn } from "../plugins/agents/chat/index.js";
import type { ConversationCore } from "./conversation-core.js";
import type { TurnOptions } from "./conversation-options.js";
import type { TurnInput } from "./turn-input.js";
import {
  ConversationConflictError,
  ConversationStoreError,
} from "../contracts/conversation-errors.js";
import {
  AgentEnsembleError,
  GuardrailViolationError,
  RunCancelledError,
  ValidationError,
} from "../contracts/errors.js";
import { messageOf, toError } from "../util/errors.js";
import { emitProcessWarning } from "../util/process-warning.js";
import type { AddedMessage } from "./turn-record.js";
import { ToolCallViews } from "./tool-call-views.js";
import type { TurnRun } from "./turn-run.js";
import { KeptTurn } from "./kept-turns.js";
import { TurnMeter } from "./turn-meter.js";
import type { TurnQuotas } from "./turn-quotas.js";
import {
  acceptedMessages,
  addedBy,
  partialMessages,
  roleAfter,
  storedTurnOf,
  withoutAnswer,
  TURN_TASK,
} from "./turn-record.js";

/** The subject of a turn. */
export interface TurnRequest {
  readonly threadId: string;
  readonly owner: string | undefined;
  readonly options: TurnOptions;
  /** Determines the message of the turn from the current thread. */
  readonly prepare: (store: ConversationStore, head: ThreadHead | undefined) => Promise<TurnPlan>;
}

/** The message, and the number of preceding turns. */
export interface TurnPlan {
  readonly input: TurnInput;
  /** The number of kept turns. */
  readonly keep: number;
  /** The id of the user's message. Default: the id in the options. */
  readonly messageId?: string | undefined;
}

/** The state of a running turn. */
class TurnWork {
  readonly progress: ChatProgress = { added: () => [], finishReason: "other" };
  /** The role of the agent that begins the turn. */
  agentRoleAtStart = "";
  readonly views = new ToolCallViews();
  /** The number of earlier turns that the model received. */
  turnsInWindow = 0;
  /** A summary created by the window. */
  summary: ThreadSummary | undefined;
  /** The run, once it reads the window. */
  run: HookRun | undefined;
  /** The text of the model call in progress. */
  #text = "";

  /** Follows the text of the answer. */
  listen(event: EnsembleEvent): void {
    if (!("taskId" in event) || event.taskId !== TURN_TASK) return;
    this.views.listen(event);
    if (event.type === "token") this.#text += event.token;
    else if (TEXT_ENDS.includes(event.type)) this.#text = "";
  }

  /** The role of the agent that answered, or that was working at the end. */
  get agentRole(): string {
    return this.progress.added().at(-1)?.agentRole ?? this.agentRoleAtStart;
  }

  /** Returns the messages added before the turn ended without a completed run. */
  partial(o: { readonly isAccepted: boolean }): readonly AddedMessage[] {
    const added = addedBy(this.progress.added());
    return partialMessages(o.isAccepted ? added : withoutAnswer(added), this.#text, this.agentRole);
  }
}

const TEXT_ENDS: readonly string[] = [
  "llm_iteration_started",
  "llm_iteration_completed",
  "retry_scheduled",
];

/** The state of a turn at its start. */
interface TurnStart extends TurnPlan {
  readonly store: ConversationStore;
  readonly head: ThreadHead | undefined;
  readonly startedAt: Date;
  /** The agent of the next turn, if an agent was passed for this turn only. */
  readonly nextAgentRole: string | undefined;
}

/** The end of a turn. */
interface EndedTurn {
  readonly result: TurnResult;
  /** The reason why the turn could not be stored. */
  readonly unstored?: Error;
}

/** Releases a lock. A failure becomes a warning, because the answer is already stored. */
export async function freed(lock: ThreadLock | undefined, threadId: string): Promise<void> {
  try {
    await lock?.release();
  } catch (error) {
    emitProcessWarning(
      `The lock of thread '${threadId}' could not be released: ${messageOf(error)}`,
    );
  }
}

/** Executes one turn: waits in the queue, runs it, and stores it. */
export class Turn {
  readonly #core: ConversationCore;
  readonly #request: TurnRequest;
  readonly #run: TurnRun;
  readonly #work = new TurnWork();
  readonly #kept = new KeptTurn();
  /** Whether the run has begun. */
  #hasRun = false;

  constructor(core: ConversationCore, request: TurnRequest, run: TurnRun) {
    this.#core = core;
    this.#request = request;
    this.#run = run;
  }

  /**
   * @throws the error of the run; TurnQuotaError, ThreadBusyError, ConversationConflictError,
   * ConversationStoreError.
   */
  async perform(): Promise<TurnResult> {
    const { threadId, options } = this.#request;
    let lock: ThreadLock | undefined;
    try {
      await this.#core.ready();
      const { store } = this.#core;
      lock = await this.#run.whileWaiting((signal) =>
        store.lock?.(threadId, { timeoutMs: this.#core.busyTimeoutMs, signal }),
      );
      return await this.#locked(store);
    } finally {
      if (lock !== undefined) await freed(lock, threadId);
      if (!this.#hasRun && options.runId === undefined) this.#core.giveBack(this.#run.runId);
    }
  }

  async #locked(store: ConversationStore): Promise<TurnResult> {
    const { threadId, owner, options, prepare } = this.#request;
    const head = await this.#core.openOwned(threadId, owner);
    const { input, keep, messageId = options.messageId } = await prepare(store, head);
    if (messageId !== undefined) await this.#refuseTwin(store, messageId, keep);
    const before = (): Promise<string | undefined> => this.#roleBefore(store, head, keep);
    const { agent, warning } = await this.#core.beginnerOf(options.agent, head?.agentRole, before);
    this.#work.agentRoleAtStart = agent.role;
    const nextAgentRole =
      options.agent === undefined ? undefined : ((await before()) ?? this.#core.firstRole);
    const { quotas } = this.#core;
    if (quotas !== undefined) await this.#admit(quotas);
    const startedAt = this.#core.now();
    const start = { store, head, keep, startedAt, input, messageId, nextAgentRole };
    let ended: Promise<EndedTurn> | undefined;
    let earlier: readonly UsageRecord[] = [];
    const end = async (output: EnsembleOutput, run?: HookRun): Promise<EndedTurn> => {
      const turn = await (ended ??= this.#end(start, output, run));
      await this.#kept.endRun(threadId, {
        isStorable: ConversationStoreError.isInstance(turn.unstored),
      });
      return turn;
    };
    const meter = quotas && new TurnMeter(quotas, this.#request);
    const output = await this.#run.execute({
      agent,
      input,
      listen: (event) => this.#work.listen(event),
      count: meter && ((event) => meter.listen(event)),
      end: async (run, atEnd) => {
        earlier = run.earlierUsage;
        await end(atEnd, run);
      },
      turn: this.#chatTurn(start, warning),
    });
    this.#hasRun = true;
    // If a hook failed earlier, the run has not called `end`.
    const { result, unstored } = await end(output);
    await meter?.end(output.metrics.ledger, earlier);
    if (unstored !== undefined) throw unstored;
    if (result.error !== undefined && options.throwOnError !== false) throw result.error;
    return result;
  }

  /** Counts the turn in its quotas. A turn in the journal was already counted when it began. */
  async #admit(quotas: TurnQuotas): Promise<void> {
    const { runId } = this.#request.options;
    if (runId !== undefined)
      for (const runs of this.#core.journals) if ((await runs.get(runId)) !== undefined) return;
    await this.#run.whileWaiting((signal) => quotas.admit(this.#request, signal));
  }

  #chatTurn(start: TurnStart, warning: string | undefined): ChatTurn {
    const { threadId } = this.#request;
    const { store, head, keep, input, messageId } = start;
    return {
      threadId,
      messageId: messageId ?? `${this.#run.runId}-0`,
      content: input.content,
      progress: this.#work.progress,
      warning,
      readWindow: async (reader) => {
        this.#work.run = reader.scope.run;
        await this.#kept.keepMessage(reader.scope.run, {
          version: head?.version ?? 0,
          keep,
          content: input.content,
          messageId,
        });
        return this.#core.selectWindow(reader, { store, threadId, head, keep }, this.#work);
      },
      keep: (run, attempt) => this.#kept.keepProgress(run, attempt, this.#work),
      restore: (run, attempt) => this.#kept.restoreProgress(run, attempt, this.#work),
    };
  }

  /** Creates the turn of a run, and stores it. Never rejects. */
  async #end(
    { store, head, keep, startedAt, input, messageId, nextAgentRole }: TurnStart,
    output: EnsembleOutput,
    run: HookRun | undefined,
  ): Promise<EndedTurn> {
    const { status, added, text } = this.#outcome(output);
    const stored = storedTurnOf({
      n: keep,
      turnId: output.runId,
      at: startedAt.toISOString(),
      status,
      agentRole: this.#work.agentRole,
      nextAgentRole,
      messageId,
      content: input.content,
      added,
      output,
      views: this.#work.views,
      untrusted: this.#work.run?.untrustedSource,
    });
    const result = this.#result(stored, output, text);
    if (status !== "completed" && this.#isDiscarded(output.error)) return { result };
    try {
      const { version } = await this.#store(store, head, stored, result);
      this.#announce(run, version, stored);
      return { result };
    } catch (error) {
      return { result, unstored: toError(error) };
    }
  }

  #announce(run: HookRun | undefined, version: number, { status, agentRole }: StoredTurn): void {
    if (run?.listens("turn_stored") !== true) return;
    const { threadId } = this.#request;
    const { turnsInWindow, summary } = this.#work;
    const summarized = summary !== undefined;
    const place = { taskId: TURN_TASK, agentRole, threadId };
    run.emit({ type: "turn_stored", ...place, version, status, turnsInWindow, summarized });
  }

  /** A message that was refused is never stored, because later turns would send it to the model. */
  #isDiscarded(error: Error | undefined): boolean {
    const onFailure = this.#request.options.onFailure ?? this.#core.onFailure;
    return onFailure === "discard" || GuardrailViolationError.find(error)?.type === "INPUT";
  }

  #outcome(output: EnsembleOutput): {
    readonly status: TurnStatus;
    readonly added: readonly AddedMessage[];
    readonly text: string;
  } {
    const answer = output.taskOutputs.find(({ taskId }) => taskId === TURN_TASK);
    if (answer !== undefined && output.error === undefined)
      return {
        status: "completed",
        added: acceptedMessages(
          addedBy(this.#work.progress.added()),
          answer.raw,
          this.#work.agentRole,
        ),
        text: answer.raw,
      };
    const { error } = output;
    const isCancelled = error === undefined || RunCancelledError.find(error) !== undefined;
    const added = this.#work.partial({ isAccepted: answer !== undefined });
    const last = added.at(-1)?.message;
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
  ): Promise<ThreadHead> {
    const { threadId, owner } = this.#request;
    const { summary } = this.#work;
    const expectedVersion = head?.version ?? 0;
    try {
      return await store.append(threadId, {
        expectedVersion,
        turns: [turn],
        ...(head !== undefined && turn.n < head.turns && { keep: turn.n }),
        ...(summary !== undefined && { summary }),
        ...(head === undefined && owner !== undefined && { owner }),
        ...(turn.nextAgentRole !== undefined && { agentRole: turn.nextAgentRole }),
      });
    } catch (cause) {
      if (ConversationConflictError.isInstance(cause))
        throw new ConversationConflictError(threadId, expectedVersion, { cause, result });
      throw new ConversationStoreError(
        `The answer of thread '${threadId}' could not be stored: ${messageOf(cause)}`,
        { threadId, operation: "append" },
        { cause, result, hint: this.#hintOf(cause, result.status) },
      );
    }
  }

  #hintOf(cause: unknown, status: TurnStatus): string | undefined {
    const hint = AgentEnsembleError.isInstance(cause) ? cause.hint : undefined;
    if (status !== "completed" || !this.#kept.isResumable) return hint;
    const again = "The journal keeps the answer: thread.resume() stores it, without a model call.";
    return hint === undefined ? again : `${hint} ${again}`;
  }

  /** Returns the role of the agent of the thread after its first `keep` turns. */
  async #roleBefore(
    store: ConversationStore,
    head: ThreadHead | undefined,
    keep: number,
  ): Promise<string | undefined> {
    if (head === undefined || keep === head.turns) return head?.agentRole;
    if (keep === 0) return undefined;
    const [turn] = await store.read(this.#request.threadId, { limit: 1, before: keep });
    return roleAfter(turn);
  }

  /**
   * Refuses a message whose id is in the thread: a page may send a message twice. Ignores turns
   * that this turn replaces.
   */
  async #refuseTwin(store: ConversationStore, messageId: string, keep: number): Promise<void> {
    if (keep === 0) return;
    const turns = await store.read(this.#request.threadId, { limit: 50, before: keep });
    const isTaken = ({ turnId, messages }: StoredTurn): boolean =>
      [turnId, `${turnId}-a`, ...messages.map(({ id }) => id)].includes(messageId);
    if (turns.some(isTaken))
      throw new ValidationError(`The thread has a message '${messageId}' already`, {
        about: "messageId",
        hint: "Each message needs its own messageId; leave it out to get one.",
      });
  }
}
