import type { ContentPart } from "../../contracts/content.js";
import type { LiveStream } from "./live-stream.js";
import type { StartedRun } from "./started-runs.js";

/** The user's message of a turn. */
export interface Question {
  readonly id: string;
  readonly content: string | readonly ContentPart[];
  /** A message or turn id. The turn replaces that turn and all later turns. */
  readonly replaces?: string | undefined;
}

/** A turn that is in progress or waits in the queue of its thread. */
export interface PageTurn {
  readonly threadId: string;
  readonly run: StartedRun;
  readonly question: Question;
  /** Resolves when the turn has begun. Rejects with the error of a turn that ended before. */
  readonly begun: Promise<LiveStream>;
  /** Whether a process that has ended started the turn. */
  readonly isResumed: boolean;
}

/** Maximum number of threads whose pages may still request the stream of an ended turn. */
const KEPT_THREADS = 1_000;

/** The turns of the threads of a handler that have not ended, in the order of their requests. */
export class PageTurns {
  readonly #threads = new Map<string, PageTurn[]>();
  /** Threads whose last turn is being looked up in the stored data. */
  readonly #resuming = new Map<string, Promise<PageTurn | undefined>>();

  /**
   * The run of the turn that pages received without its answer, by thread. `pages` is the number of
   * pages that have not requested its stream.
   */
  readonly #shown = new Map<string, { readonly run: StartedRun; readonly pages: number }>();

  add(threadId: string, owner: string | undefined, turn: PageTurn): void {
    const key = threadKey(threadId, owner);
    const turns = this.#threads.get(key) ?? [];
    this.#threads.set(key, turns);
    turns.push(turn);
    const end = (): void => {
      turns.splice(turns.indexOf(turn), 1);
      if (turns.length === 0 && this.#threads.get(key) === turns) this.#threads.delete(key);
    };
    turn.run.handle?.output.then(end, end);
  }

  /**
   * Returns the turn in progress, otherwise the result of `resume`. Concurrent callers share one
   * call of `resume`.
   */
  async currentOr(
    threadId: string,
    owner: string | undefined,
    resume: () => Promise<PageTurn | undefined>,
  ): Promise<PageTurn | undefined> {
    const current = this.current(threadId, owner);
    if (current !== undefined) return current;
    const key = threadKey(threadId, owner);
    let resuming = this.#resuming.get(key);
    if (resuming === undefined) {
      resuming = resume().finally(() => this.#resuming.delete(key));
      this.#resuming.set(key, resuming);
    }
    return resuming;
  }

  /**
   * Records that a page receives a thread with this turn in progress. Without a turn, the page has
   * all answers.
   */
  show(threadId: string, owner: string | undefined, run: StartedRun | undefined): void {
    const key = threadKey(threadId, owner);
    const earlier = this.#shown.get(key);
    this.#shown.delete(key);
    if (run === undefined) return;
    const pages = earlier?.run === run ? earlier.pages + 1 : 1;
    this.#shown.set(key, { run, pages });
    if (this.#shown.size <= KEPT_THREADS) return;
    for (const oldest of this.#shown.keys()) return void this.#shown.delete(oldest);
  }

  /** Returns the run of the turn that a page received in progress. Each page can take it once. */
  takeShown(threadId: string, owner: string | undefined): StartedRun | undefined {
    const key = threadKey(threadId, owner);
    const { run, pages = 0 } = this.#shown.get(key) ?? {};
    this.#shown.delete(key);
    if (run !== undefined && pages > 1) this.#shown.set(key, { run, pages: pages - 1 });
    return run;
  }

  /** Records that a page has requested the stream of this turn by its id. */
  came(threadId: string, owner: string | undefined, runId: string): void {
    if (this.#shown.get(threadKey(threadId, owner))?.run.id === runId)
      this.takeShown(threadId, owner);
  }

  /** Returns the turn in progress. */
  current(threadId: string, owner: string | undefined): PageTurn | undefined {
    return this.#threads.get(threadKey(threadId, owner))?.[0];
  }
}

function threadKey(threadId: string, owner: string | undefined): string {
  return JSON.stringify([threadId, owner ?? null]);
}
