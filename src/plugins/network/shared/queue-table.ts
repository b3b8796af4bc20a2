import type {
  DeadLetter,
  QueueDepth,
  QueueState,
  WorkRequest,
} from "../../../contracts/network.js";
import { RequestConflictError } from "../../../contracts/network-errors.js";
import { MinHeap } from "../../../util/min-heap.js";
import { workFingerprint, priorityRank } from "./work-request.js";

/** A change of one request. The state of a queue results from a sequence of changes. */
export type QueueChange =
  | { readonly op: "accept"; readonly request: WorkRequest; readonly at: number }
  | { readonly op: "lease"; readonly id: string; readonly token: string; readonly until: number }
  | { readonly op: "extend"; readonly id: string; readonly until: number }
  | {
      readonly op: "release";
      readonly id: string;
      readonly due: number;
      readonly blame: boolean;
    }
  | { readonly op: "done"; readonly id: string; readonly at: number }
  | { readonly op: "dead"; readonly id: string; readonly reason: string }
  | { readonly op: "redrive"; readonly id: string; readonly at: number };

/** Rules of a queue. */
export interface QueueRules {
  /** Milliseconds that correspond to one rank of priority. */
  readonly agingMs: number;
  /** Milliseconds for which the ids of done requests are kept. */
  readonly idTtlMs: number;
}

/** A request that is not done. */
export interface QueueEntry {
  readonly request: WorkRequest;
  readonly fingerprint: string;
  state: "QUEUED" | "LEASED" | "DEAD";
  acceptedAt: number;
  /** The position in the queue: the time of acceptance plus the rank times `agingMs`. */
  order: number;
  /** Number of the accepted request, for requests with equal order. */
  seq: number;
  /** Number of counted deliveries. */
  attempt: number;
  /** The token of the lease. */
  token: string;
  /** The end of the lease or of the delay. 0 without either. */
  due: number;
  /** Number of changes, to recognize timed events of an earlier state. */
  version: number;
  /** The reason of a dead letter. */
  reason: string;
}

/** Valid as long as the entry has this version. */
interface Versioned {
  readonly entry: QueueEntry;
  readonly version: number;
}

interface Timed extends Versioned {
  readonly at: number;
}

interface DoneRequest {
  readonly fingerprint: string;
  readonly until: number;
}

/**
 * The state of one queue. All methods are synchronous. `apply` makes every change, so that a log
 * can repeat it. Times are milliseconds of one monotonic clock.
 */
export class QueueTable {
  readonly #rules: QueueRules;
  /** Queued and leased requests in order of acceptance. */
  readonly #entries = new Map<string, QueueEntry>();
  readonly #dead = new Map<string, QueueEntry>();
  /** Done requests in the order of their end. */
  readonly #done = new Map<string, DoneRequest>();
  readonly #ready = new MinHeap<Versioned>(
    ({ entry: a }, { entry: b }) => a.order < b.order || (a.order === b.order && a.seq < b.seq),
  );
  readonly #timed = new MinHeap<Timed>((a, b) => a.at < b.at);
  #leased = 0;
  #seq = 0;

  constructor(rules: QueueRules) {
    this.#rules = rules;
  }

  get queued(): number {
    return this.#entries.size - this.#leased;
  }

  /** The next end of a lease or of a delay. `undefined` if there is none. */
  get nextDue(): number | undefined {
    return firstCurrent(this.#timed)?.at;
  }

  /** Ends expired leases and delays, and removes old ids. */
  advance(now: number): void {
    for (let due = this.nextDue; due !== undefined && due <= now; due = this.nextDue) {
      const entry = this.#timed.pop()?.entry;
      if (entry === undefined) break; // nextDue has found it
      this.#makeReady(entry);
    }
    for (const [id, { until }] of this.#done) {
      if (until > now) break;
      this.#done.delete(id);
    }
  }

  /**
   * Returns whether a request is known.
   * @throws RequestConflictError if the id of the request is known with other content.
   */
  isKnown(request: WorkRequest): boolean {
    const id = request.requestId;
    const known = this.#entries.get(id) ?? this.#dead.get(id) ?? this.#done.get(id);
    if (known === undefined) return false;
    if (known.fingerprint !== workFingerprint(request)) throw new RequestConflictError(id);
    return true;
  }

  /** Returns the next request. Returns `undefined` if none is ready. Call `advance` before. */
  next(): QueueEntry | undefined {
    return firstCurrent(this.#ready)?.entry;
  }

  /** Returns the entry of a held lease. Call `advance` before. */
  held(id: string, token: string): QueueEntry | undefined {
    const entry = this.#entries.get(id);
    return entry?.state === "LEASED" && entry.token === token ? entry : undefined;
  }

  isDead(id: string): boolean {
    return this.#dead.has(id);
  }

  stateOf(id: string): QueueState | undefined {
    if (this.#done.has(id)) return "DONE";
    return (this.#entries.get(id) ?? this.#dead.get(id))?.state;
  }

  depth(now: number): QueueDepth {
    let oldestWaitMs = 0;
    for (const entry of this.#entries.values()) {
      if (entry.state !== "QUEUED") continue;
      oldestWaitMs = Math.max(0, now - entry.acceptedAt);
      break;
    }
    return { queued: this.queued, leased: this.#leased, dead: this.#dead.size, oldestWaitMs };
  }

  deadLetters(): readonly DeadLetter[] {
    return [...this.#dead.values()].map(({ request, reason }) => ({ request, reason }));
  }

  /** Makes a change, which must be possible in the current state. */
  apply(change: QueueChange): void {
    if (change.op === "accept") return this.#accept(change.request, change.at);
    if (change.op === "redrive") return this.#redrive(change.id, change.at);
    const entry = this.#entries.get(change.id);
    if (entry === undefined) return;
    switch (change.op) {
      case "lease":
        entry.attempt++;
        entry.token = change.token;
        return this.#schedule(entry, "LEASED", change.until);
      case "extend":
        return this.#schedule(entry, "LEASED", change.until);
      case "release":
        if (!change.blame) entry.attempt--;
        return change.due === 0
          ? this.#makeReady(entry)
          : this.#schedule(entry, "QUEUED", change.due);
      case "done":
        this.#leave(change.id, entry);
        return this.#remember(change.id, entry.fingerprint, change.at + this.#rules.idTtlMs);
      case "dead":
        this.#leave(change.id, entry);
        return this.#bury(change.id, entry, change.reason);
    }
  }

  /** Ends all leases, because their holders have ended. */
  endLeases(): void {
    for (const entry of this.#entries.values())
      if (entry.state === "LEASED") this.#makeReady(entry);
  }

  /** Yields the contents in the order that `restore` expects. */
  *contents(): Generator<QueueContent> {
    for (const [id, { fingerprint, until }] of this.#done)
      yield { kind: "done", id, fingerprint, until };
    for (const entry of [...this.#dead.values(), ...this.#entries.values()])
      yield { kind: "entry", ...contentOf(entry) };
  }

  restore(kept: QueueContent): void {
    if (kept.kind === "done") return this.#remember(kept.id, kept.fingerprint, kept.until);
    const { request, attempt, acceptedAt, due, reason } = kept;
    const entry = this.#newEntry(request, acceptedAt);
    entry.attempt = attempt;
    if (reason !== undefined) return this.#bury(request.requestId, entry, reason);
    this.#entries.set(request.requestId, entry);
    if (due === 0) this.#makeReady(entry);
    else this.#schedule(entry, "QUEUED", due);
  }

  #newEntry(request: WorkRequest, at: number): QueueEntry {
    return {
      request,
      fingerprint: workFingerprint(request),
      state: "QUEUED",
      acceptedAt: at,
      order: at + priorityRank(request) * this.#rules.agingMs,
      seq: this.#seq++,
      attempt: 0,
      token: "",
      due: 0,
      version: 0,
      reason: "",
    };
  }

  #accept(request: WorkRequest, at: number): void {
    const entry = this.#newEntry(request, at);
    this.#entries.set(request.requestId, entry);
    this.#makeReady(entry);
  }

  #remember(id: string, fingerprint: string, until: number): void {
    this.#done.set(id, { fingerprint, until });
  }

  #bury(id: string, entry: QueueEntry, reason: string): void {
    entry.state = "DEAD";
    entry.reason = reason;
    this.#dead.set(id, entry);
  }

  #redrive(id: string, at: number): void {
    const dead = this.#dead.get(id);
    if (dead === undefined) return;
    this.#dead.delete(id);
    this.#accept(dead.request, at);
  }

  #leave(id: string, entry: QueueEntry): void {
    this.#move(entry, "QUEUED");
    this.#entries.delete(id);
  }

  #makeReady(entry: QueueEntry): void {
    this.#move(entry, "QUEUED");
    entry.due = 0;
    this.#ready.push({ entry, version: entry.version });
  }

  /** Sets the end of a lease or of a delay. */
  #schedule(entry: QueueEntry, state: "QUEUED" | "LEASED", at: number): void {
    this.#move(entry, state);
    entry.due = at;
    this.#timed.push({ entry, at, version: entry.version });
  }

  /**
   * Updates the number of leases, and invalidates events that were scheduled in the previous state.
   */
  #move(entry: QueueEntry, state: "QUEUED" | "LEASED"): void {
    this.#leased += (state === "LEASED" ? 1 : 0) - (entry.state === "LEASED" ? 1 : 0);
    entry.state = state;
    entry.version++;
  }
}

/** A request of a queue as `contents` returns it. */
export type QueueContent =
  | {
      readonly kind: "done";
      readonly id: string;
      readonly fingerprint: string;
      readonly until: number;
    }
  | ({ readonly kind: "entry" } & PendingContent);

interface PendingContent {
  readonly request: WorkRequest;
  readonly acceptedAt: number;
  readonly attempt: number;
  /** The earliest time of delivery. 0 means at once. */
  readonly due: number;
  /** The reason of a dead letter. */
  readonly reason?: string | undefined;
}

function contentOf({
  request,
  acceptedAt,
  attempt,
  due,
  state,
  reason,
}: QueueEntry): PendingContent {
  const base = { request, acceptedAt, attempt, due: state === "QUEUED" ? due : 0 };
  return state === "DEAD" ? { ...base, reason } : base;
}

/** Removes outdated events, up to the first valid event. Returns that event. */
function firstCurrent<T extends Versioned>(heap: MinHeap<T>): T | undefined {
  for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
    if (next.entry.version === next.version) return next;
    heap.pop();
  }
  return undefined;
}
