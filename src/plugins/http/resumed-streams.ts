import type { RunSummary } from "../../contracts/run-store.js";
import type { UIChunk } from "../../contracts/ui-stream.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { ChatSettings, ChatThread } from "./chat-handler-options.js";
import type { PageTurn, PageTurns } from "./page-turns.js";
import type { StartedRun, StartedRuns } from "./started-runs.js";
import type { StreamAnswers } from "./stream-answers.js";
import { AgentEnsembleError, RunCancelledError } from "../../contracts/errors.js";
import { threadTags } from "../shared/thread-tags.js";
import { storedAnswer } from "./stored-answer.js";

/** Number of last messages that are searched for the answer of a turn. */
const LAST_MESSAGES = 200;
/** States of runs that have ended. Their turn was stored or discarded. */
const ENDED: readonly RunSummary["state"][] = ["done", "failed", "stopped"];

/** A thread whose turn a reconnected page requests. */
interface ReturnedTo {
  readonly thread: ChatThread;
  readonly owner: string | undefined;
  /** The turn in progress. */
  readonly current: () => Promise<PageTurn | undefined>;
}

/** The stream of one turn for a reconnected page. */
export interface ResumedStream {
  readonly source: ChunkSource;
  readonly runId: string;
}

/** The sources of the streams of turns. */
export interface TurnSources {
  /** The name of the conversation. */
  readonly name: string | undefined;
  readonly settings: ChatSettings;
  readonly runs: StartedRuns;
  readonly turns: PageTurns;
  readonly streams: StreamAnswers;
}

/**
 * Finds the stream of a turn for a reconnected page. The sources are the stored stream, the log,
 * and the messages of the turn.
 */
export class ResumedStreams {
  readonly #from: TurnSources;

  constructor(from: TurnSources) {
    this.#from = from;
  }

  /**
   * Returns the stream of the turn in progress, or of the turn that a page received without its
   * answer.
   */
  async latest({ thread, owner, current }: ReturnedTo): Promise<ResumedStream | undefined> {
    const { turns } = this.#from;
    const shown = turns.takeShown(thread.id, owner);
    const hasEnded = shown !== undefined && shown.handle === undefined;
    const turn = hasEnded ? undefined : await current();
    const run = hasEnded ? shown : turn?.run;
    const stream = hasEnded ? shown.stream : await turn?.begun.catch(() => undefined);
    const source = await stream?.open();
    if (run !== undefined && source !== undefined) return { source, runId: run.id };
    const left =
      run === undefined ? await this.#lastLeft(thread.id, owner) : await this.#logged(run.id);
    return this.#fromLog(left, thread.id);
  }

  /** Returns the stream of this turn, in progress or ended. */
  async named(to: ReturnedTo, runId: string): Promise<ResumedStream | undefined> {
    const { thread, owner } = to;
    const { runs, turns } = this.#from;
    turns.came(thread.id, owner, runId);
    const current = await to.current(); // resumes a turn that a journal keeps
    const isCurrent = current?.run.id === runId;
    const run = isCurrent ? current.run : runs.turn(runId, { threadId: thread.id, owner });
    if (isCurrent) await current.begun.catch(() => undefined);
    const source = await run?.stream?.open();
    if (source !== undefined) return { source, runId };
    const left = await this.#logged(runId);
    const isOurs = run !== undefined || this.#isLeftBy(thread.id, owner, left);
    const logged = isOurs ? this.#fromLog(left, thread.id) : undefined;
    if (logged !== undefined) return logged;
    await run?.handle?.output.catch(() => undefined); // the stream is not stored
    const chunks = await this.#ended(to, runId, run);
    return chunks === undefined ? undefined : { source: chunkSource(chunks), runId };
  }

  /** Returns the parts of a turn that has ended: its stored answer, or its failure. */
  async #ended(
    { thread }: ReturnedTo,
    runId: string,
    run: StartedRun | undefined,
  ): Promise<readonly UIChunk[] | undefined> {
    const { settings, streams } = this.#from;
    const messages = await thread.messages({ limit: LAST_MESSAGES });
    const stored = storedAnswer(messages, { turnId: runId, threadId: thread.id }, settings.ui);
    if (stored !== undefined || run?.failure === undefined) return stored;
    const cancelled = run.failure === "AE_RUN_CANCELLED";
    const message = "The turn has ended without an answer";
    const error = cancelled
      ? new RunCancelledError(message)
      : new AgentEnsembleError(run.failure, message);
    return streams.page(runId, thread.id).end({ kind: "failed", error });
  }

  async #logged(runId: string): Promise<RunSummary | undefined> {
    return this.#from.settings.log?.get(runId);
  }

  #fromLog(left: RunSummary | undefined, threadId: string): ResumedStream | undefined {
    const { streams, runs } = this.#from;
    const source = left && streams.logged(left, runs, threadId);
    return left === undefined || source === undefined ? undefined : { source, runId: left.runId };
  }

  /** Returns the last run of the thread if it did not end before its process ended. */
  async #lastLeft(threadId: string, owner: string | undefined): Promise<RunSummary | undefined> {
    const { log } = this.#from.settings;
    if (log === undefined) return undefined;
    const { runs } = await log.list({ tags: threadTags({ threadId, owner }), limit: 20 });
    const last = runs.find((run) => this.#isOf(threadId, owner, run));
    return this.#isLeftBy(threadId, owner, last) ? last : undefined;
  }

  /** Returns whether the run belongs to this thread and never ended. */
  #isLeftBy(threadId: string, owner: string | undefined, run: RunSummary | undefined): boolean {
    return run !== undefined && this.#isOf(threadId, owner, run) && !ENDED.includes(run.state);
  }

  #isOf(threadId: string, owner: string | undefined, { ensemble, tags }: RunSummary): boolean {
    const own = threadTags({ threadId, owner });
    return (
      ensemble === (this.#from.name ?? "") &&
      tags["threadId"] === own["threadId"] &&
      tags["owner"] === own["owner"]
    );
  }
}

function chunkSource(chunks: readonly UIChunk[]): ChunkSource {
  const rest = [...chunks];
  return { next: async () => rest.shift(), leave: () => void rest.splice(0) };
}
