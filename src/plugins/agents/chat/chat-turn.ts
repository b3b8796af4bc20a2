import type { FinishReason } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";
import type { StoredTurn, SummaryRequest } from "../../../contracts/conversation.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { HookRun, TaskScope } from "../../../contracts/run.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { AgentPart } from "../shared/exchange.js";
import { createToken } from "../../../contracts/token.js";

/** The part of a thread that a model receives. */
export interface ThreadWindow {
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  /** A summary of the earlier turns. */
  readonly summary?: string | undefined;
}

/** The values of a task that a window depends on. */
export interface WindowReader {
  readonly scope: TaskScope;
  summarize(request: SummaryRequest): Promise<string>;
}

/** A turn of a conversation, for its task. */
export interface ChatTurn {
  readonly threadId: string;
  /** The id of the user's message. */
  readonly messageId: string;
  /** The user's message, sent unchanged. */
  readonly content: string | readonly ContentPart[];
  /** Selects the part of the thread that the model receives. */
  readWindow(reader: WindowReader): Promise<ThreadWindow>;
  /** A warning that is reported when the turn begins. */
  readonly warning?: string | undefined;
  /** The messages that the turn has added so far. */
  readonly progress: ChatProgress;
  /** Keeps the progress of an attempt that has its answer, for later executions of the run. */
  keep(run: RunInfo, attempt: TurnAttempt): Promise<void>;
  /** Restores the progress of an attempt that an earlier execution of the run has kept. */
  restore(run: RunInfo, attempt: TurnAttempt): void;
}

/** Names an attempt of the task of a turn. */
export type TurnAttempt = Pick<TaskCall, "identity" | "attempt">;

/** The messages that a turn has added to its thread so far. */
export interface ChatProgress {
  /**
   * Returns the messages after the message of the user, by agent. Calls of the last answer may have
   * no result yet.
   */
  added: () => readonly AgentPart[];
  /** The finish reason of the last answer without tool calls. */
  finishReason: FinishReason;
}

/** Stores the turn of a run whose output is known. Never rejects. */
export type TurnEnd = (run: HookRun, output: EnsembleOutput) => Promise<void>;

/** The turns whose tasks are in progress. */
export class ChatTurns {
  readonly #turns = new WeakMap<AnyTask, ChatTurn>();
  readonly #ends = new Map<string, TurnEnd>();

  /** Makes `task` the task of a turn. */
  add(task: AnyTask, turn: ChatTurn): void {
    this.#turns.set(task, turn);
  }

  of(task: AnyTask): ChatTurn | undefined {
    return this.#turns.get(task);
  }

  /**
   * Calls `end` once, when the output of the run with this id is known. Returns a function that
   * removes the callback.
   */
  onEnd(runId: string, end: TurnEnd): () => void {
    this.#ends.set(runId, end);
    return () => void this.#ends.delete(runId);
  }

  /** Returns whether a turn of a conversation started the run. */
  isTurn(runId: string): boolean {
    return this.#ends.has(runId);
  }

  /** Ends the turn of a run. Returns `undefined` for other runs and without an output. */
  end(run: HookRun, output: EnsembleOutput | undefined): Promise<void> | undefined {
    return output === undefined ? undefined : this.#ends.get(run.id)?.(run, output);
  }
}

/** The registry of the turns in progress. Conversations add their turns to it. */
export const ChatTurnsToken = createToken<ChatTurns>("agents-chat/turns");
