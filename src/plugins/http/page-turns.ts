import type { ContentPart } from "../../contracts/content.js";
import type { LiveStream } from "./live-stream.js";
import type { StartedRun } from "./started-runs.js";

/** The user's message of a turn. */
export interface Question {
  readonly id: string;
  readonly content: string | readonly ContentPart[];
  /** A message or turn id: the turn replaces that turn and all that follow. */
  readonly replaces?: string | undefined;
}

/** A turn that goes on, or waits for its place in its thread. */
export interface PageTurn {
  readonly threadId: string;
  readonly run: StartedRun;
  readonly question: Question;
  /** Resolves when the turn has begun. Rejects with what ended it before. */
  readonly begun: Promise<LiveStream>;
  /** Whether it was begun by a process that has ended. */
  readonly isResumed: boolean;
}

/** Pages of so many threads may still come for the stream of a turn that has ended. */
const KEPT_THREADS = 1_000;

/** The turns of the threads of a handler that have not ended, in the order of their requests. */
export class PageTurns {
  readonly #threads = new Map<string, PageTurn[]>();
  /** Threads whose last turn is looked for, in what is kept of it. */
  readonly #resuming = new Map<string, Promise<PageTurn | undefined>>();

  /** The run of the turn that pages got without its answer, by thread, and how many of them have not come for its stream. */
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

  /** The turn that goes on, else what `resume` returns; it is called once at a time. */
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

  /** Notes that a page gets a thread, with this turn in progress. Without one the page has all answers. */
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

  /** The run of the turn that a page got in progress, once for each page. */
  takeShown(threadId: string, owner: string | undefined): StartedRun | undefined {
    const key = threadKey(threadId, owner);
    const { run, pages = 0 } = this.#shown.get(key) ?? {};
    this.#shown.delete(key);
    if (run !== undefined && pages > 1) this.#shown.set(key, { run, pages: pages - 1 });
    return run;
  }

  /** The turn that goes on. */
  current(threadId: string, owner: string | undefined): PageTurn | undefined {
    return this.#threads.get(threadKey(threadId, owner))?.[0];
  }
}

function threadKey(threadId: string, owner: string | undefined): string {
  return JSON.stringify([threadId, owner ?? null]);
}
