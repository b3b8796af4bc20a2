import type { FinishReason } from "../contracts/chat-model.js";
import type { ThreadSummary } from "../contracts/conversation.js";
import type { KeptRun, ResumableRuns } from "../contracts/journal.js";
import type { RunInfo } from "../contracts/run-info.js";
import type { AgentPart, ChatProgress, TurnAttempt } from "../plugins/agents/chat/index.js";
import type { HandlerStep } from "../plugins/durability/durable/kept-steps.js";
import type { ToolCallViews, ViewsOfCall } from "./tool-call-views.js";
import type { TurnContent } from "./turn-input.js";
import { toJsonValue } from "../util/json/to-json-value.js";
import { messageOf } from "../util/errors.js";
import { isObject } from "../util/objects.js";
import { emitProcessWarning } from "../util/process-warning.js";
import { threadTags, type TurnOwner } from "../plugins/shared/thread-tags.js";
import { KEPT_STEPS, type KeptSteps } from "../plugins/durability/durable/kept-steps.js";
import { TURN_TASK } from "./turn-record.js";

/** Maximum size of a message in a journal, in characters of JSON. */
const MAX_KEPT = 4 * 1024 * 1024;
const STEP = { place: `${TURN_TASK}@1`, name: "message" } as const;
const UNFINISHED = ["waiting", "interrupted", "running"] as const;

/** The data of an unfinished turn in a journal. JSON data. */
export interface KeptMessage {
  /** The version of the thread before the turn. */
  readonly version: number;
  /** The number of earlier turns. */
  readonly keep: number;
  readonly content: TurnContent;
  readonly messageId?: string | undefined;
}

/** The data of a turn in addition to the text of its answer. */
export interface TurnProgress {
  readonly progress: ChatProgress;
  readonly views: ToolCallViews;
  turnsInWindow: number;
  summary: ThreadSummary | undefined;
}

/** The data that a journal stores for an answered attempt. JSON data. */
interface KeptProgress extends Pick<TurnProgress, "turnsInWindow" | "summary"> {
  readonly added: readonly AgentPart[];
  readonly finishReason: FinishReason;
  readonly views: readonly ViewsOfCall[];
}

/** A turn whose process has ended, from the journal. */
export interface LeftTurn {
  readonly runId: string;
  readonly message: KeptMessage;
}

/** The run of a turn in its journal. Does nothing for a run without a journal. */
export class KeptTurn {
  #hasMessage = false;
  #isResumable = false;
  #endRun: ReturnType<KeptSteps["holdEnd"]> | undefined;

  /** Whether a journal contains the message. `thread.resume()` can then find the turn. */
  get isResumable(): boolean {
    return this.#isResumable;
  }

  /**
   * Stores the message of the turn unless it is too large. Called in each attempt. Only the first
   * call stores the message.
   */
  async keepMessage(run: RunInfo, message: KeptMessage): Promise<void> {
    this.#holdEnd(run);
    if (this.#hasMessage) return;
    this.#hasMessage = true;
    const journal = run.find(KEPT_STEPS);
    if (journal === undefined || JSON.stringify(message).length > MAX_KEPT) return;
    await journal.step(run, messageStep(run), () => Promise.resolve(message));
    this.#isResumable = journal.keeps(run);
  }

  /**
   * Stores the progress of an attempt. A task that the journal answers is not executed again, and
   * its entry contains only the text of the answer.
   */
  async keepProgress(
    run: RunInfo,
    attempt: TurnAttempt,
    { progress, views, turnsInWindow, summary }: TurnProgress,
  ): Promise<void> {
    const journal = run.find(KEPT_STEPS);
    if (journal === undefined) return;
    const { finishReason } = progress;
    const added = progress.added();
    const kept: KeptProgress = { added, finishReason, views: views.all(), turnsInWindow, summary };
    await journal.note(run, progressStep(run, attempt), toJsonValue(kept));
  }

  /** Restores the progress of an attempt that an earlier execution has stored. */
  restoreProgress(run: RunInfo, attempt: TurnAttempt, turn: TurnProgress): void {
    this.#holdEnd(run);
    const journal = run.find(KEPT_STEPS);
    this.#isResumable = journal?.noted(run, messageStep(run)) !== undefined;
    const kept = journal?.noted(run, progressStep(run, attempt));
    if (!isKeptProgress(kept)) return;
    const { added, finishReason, views, turnsInWindow, summary } = kept;
    turn.progress.added = () => added;
    turn.progress.finishReason = finishReason;
    turn.views.restore(views);
    turn.turnsInWindow = turnsInWindow;
    turn.summary = summary;
  }

  /**
   * Ends the run in the journal after its turn was stored. A completed run is not resumed.
   * `isStorable`: the turn was not stored, and a later attempt may store it. Never rejects. A
   * failure becomes a warning, because the answer is known.
   */
  async endRun(threadId: string, { isStorable }: { readonly isStorable: boolean }): Promise<void> {
    try {
      await this.#endRun?.({ isInterrupted: isStorable });
    } catch (error) {
      emitProcessWarning(
        `The end of a turn of thread '${threadId}' is not in its journal: ${messageOf(error)}`,
      );
    }
  }

  #holdEnd(run: RunInfo): void {
    this.#endRun ??= run.find(KEPT_STEPS)?.holdEnd(run);
  }
}

function messageStep(run: RunInfo): HandlerStep {
  return { idempotencyKey: `${run.id}/${STEP.place}`, name: STEP.name };
}

function progressStep(run: RunInfo, { identity, attempt }: TurnAttempt): HandlerStep {
  return { idempotencyKey: `${run.id}/${identity}@${attempt}`, name: "progress" };
}

function isKeptProgress(value: unknown): value is KeptProgress {
  return (
    isObject(value) &&
    Array.isArray(value["added"]) &&
    Array.isArray(value["views"]) &&
    typeof value["finishReason"] === "string"
  );
}

/**
 * Returns the newest turn that began at this version of the thread, if no process is executing it.
 * Cancels older turns, because the thread has continued without them.
 */
export async function leftTurn(
  journals: readonly ResumableRuns[],
  place: TurnOwner,
  version: number,
): Promise<LeftTurn | undefined> {
  for (const runs of journals)
    for (const { runId } of await unfinishedRuns(runs, place)) {
      const entries = await runs.entries(runId);
      const entry = entries.find(({ key }) => key === `S:${STEP.place}/${STEP.name}`);
      const message = isObject(entry?.value) ? entry.value["value"] : undefined;
      if (isKeptMessage(message) && message.version === version) return { runId, message };
      await runs.cancel(runId, "the thread has changed");
    }
  return undefined;
}

/** Cancels the turns of a thread that no process executes. */
export async function cancelLeftTurns(
  journals: readonly ResumableRuns[],
  place: TurnOwner,
): Promise<void> {
  for (const runs of journals)
    for (const { runId } of await unfinishedRuns(runs, place))
      await runs.cancel(runId, "the thread was deleted");
}

/** Returns the unfinished runs, newest first. */
async function unfinishedRuns(runs: ResumableRuns, place: TurnOwner): Promise<readonly KeptRun[]> {
  const found: KeptRun[] = [];
  for (const status of UNFINISHED) {
    const page = await runs.list({ status, tags: threadTags(place) });
    found.push(...page.runs);
  }
  return found
    .filter(
      ({ owner, tags }) =>
        owner === undefined && (place.owner !== undefined || tags["owner"] === undefined),
    )
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt));
}

function isKeptMessage(value: unknown): value is KeptMessage {
  return (
    isObject(value) && typeof value["version"] === "number" && typeof value["keep"] === "number"
  );
}
