import type {
  ConversationStore,
  StoredTurn,
  ThreadChange,
  ThreadHead,
  ThreadLock,
  ThreadLockOptions,
  ThreadPage,
  ThreadQuery,
  TurnQuery,
} from "../../../contracts/conversation.js";
import type { Clock } from "../../../contracts/runtime.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { survivesJson } from "../../../util/json/json-fidelity.js";
import { deepFreeze, isObject } from "../../../util/objects.js";
import { systemClock } from "../../../util/runtime.js";
import { checkThreadId, checkTurnQuery } from "../shared/checks.js";
import { nextHead } from "../shared/next-head.js";
import { pageOf } from "../shared/thread-list.js";
import { ThreadQueue } from "../shared/thread-queue.js";

/** Limits of the threads in memory. */
export interface InMemoryThreadsOptions {
  /**
   * Limit of the number of threads. Beyond it, the least recently used thread is removed. Default
   * 10,000.
   */
  readonly maxThreads?: number | undefined;
}

const MAX_THREADS = 10_000;

interface KeptThread {
  head: ThreadHead;
  /** Frozen with their values, so that callers can't change them. */
  readonly turns: StoredTurn[];
}

/**
 * Returns a frozen copy of the turn, as JSON would restore it. Texts, which may be large files, are
 * shared.
 */
function storedCopy(turn: StoredTurn): StoredTurn {
  const copy = survivesJson(turn)
    ? frozenCopy(turn)
    : deepFreeze<unknown>(JSON.parse(JSON.stringify(turn)));
  return copy as StoredTurn; // JSON restores its fields
}

/** Returns a frozen copy of JSON data, without the fields that JSON omits. */
function frozenCopy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const name of Object.keys(copy)) {
    const field = copy[name];
    if (field === undefined) delete copy[name];
    else if (typeof field === "object") copy[name] = frozenCopy(field);
  }
  return Object.freeze(copy);
}

/** Threads in the memory of the process. */
export class InMemoryThreads implements ConversationStore {
  /** The threads in the order of their last use. */
  readonly #threads = new Map<string, KeptThread>();
  readonly #queue = new ThreadQueue();
  readonly #maxThreads: number;
  readonly #clock: Pick<Clock, "now">;

  constructor(o: InMemoryThreadsOptions = {}, clock: Pick<Clock, "now"> = systemClock) {
    checkOptions("ConversationStore.inMemory", o, ["maxThreads"]);
    requireInteger("ConversationStore.inMemory maxThreads", o.maxThreads, 1);
    this.#maxThreads = o.maxThreads ?? MAX_THREADS;
    this.#clock = clock;
  }

  async open(threadId: string): Promise<ThreadHead | undefined> {
    checkThreadId(threadId);
    const thread = this.#threads.get(threadId);
    if (thread !== undefined) this.#touch(threadId, thread);
    return thread?.head;
  }

  async read(threadId: string, query: TurnQuery): Promise<readonly StoredTurn[]> {
    checkThreadId(threadId);
    checkTurnQuery(query);
    const turns = this.#threads.get(threadId)?.turns ?? [];
    const end = Math.min(query.before ?? turns.length, turns.length);
    return turns.slice(Math.max(0, end - query.limit), end).map((turn) => ({ ...turn }));
  }

  async append(threadId: string, change: ThreadChange): Promise<ThreadHead> {
    checkThreadId(threadId);
    const known = this.#threads.get(threadId);
    const { turns = [] } = change;
    const head = nextHead(threadId, known?.head, change, this.#clock.now());
    const added = turns.map(storedCopy);
    const thread = known ?? { head, turns: [] };
    thread.head = head;
    thread.turns.length = head.turns - added.length;
    for (const turn of added) thread.turns.push(turn);
    this.#touch(threadId, thread);
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > this.#maxThreads && oldest !== undefined) this.#threads.delete(oldest);
    return head;
  }

  async list(query: ThreadQuery = {}): Promise<ThreadPage> {
    return pageOf(
      [...this.#threads.values()].map(({ head }) => head),
      query,
    );
  }

  async delete(threadId: string): Promise<boolean> {
    checkThreadId(threadId);
    return this.#threads.delete(threadId);
  }

  async lock(threadId: string, options: ThreadLockOptions): Promise<ThreadLock> {
    checkThreadId(threadId);
    const release = await this.#queue.take(threadId, options);
    return { release: () => Promise.resolve(release()) };
  }

  #touch(threadId: string, thread: KeptThread): void {
    this.#threads.delete(threadId);
    this.#threads.set(threadId, thread);
  }
}
