import { setTimeout as pause } from "node:timers/promises";
import type {
  EnqueueReceipt,
  Lease,
  QueueDepth,
  QueueState,
  RequestQueue,
  ResultStore,
  WorkRequest,
  WorkResponse,
} from "agentensemble";
import { RequestConflictError } from "agentensemble";

/** A request and its state, like the row of a table. */
interface Row {
  readonly request: WorkRequest;
  readonly acceptedAt: number;
  state: "QUEUED" | "LEASED" | "DONE" | "DEAD";
  attempt: number;
  token: string;
  /** The end of the lease or of the delay. */
  until: number;
  reason: string;
}

/** A queue in a map. The next call processes leases and delays that have ended. */
export class MapQueue implements RequestQueue {
  readonly #rows = new Map<string, Row>();
  #tokens = 0;

  async enqueue(
    queue: string,
    request: WorkRequest,
    { maxQueued = Infinity }: { readonly maxQueued?: number | undefined } = {},
  ): Promise<EnqueueReceipt> {
    const key = `${queue}/${request.requestId}`;
    const known = this.#rows.get(key);
    if (known !== undefined && contentOf(known.request) !== contentOf(request))
      throw new RequestConflictError(request.requestId);
    if (known !== undefined) return { status: "DUPLICATE" };
    if (this.#of(queue, "QUEUED").length >= maxQueued) return { status: "FULL" };
    const state = { state: "QUEUED", attempt: 0, token: "", until: 0, reason: "" } as const;
    this.#rows.set(key, { request: structuredClone(request), acceptedAt: Date.now(), ...state });
    return { status: "ACCEPTED" };
  }

  async dequeue(
    queue: string,
    o: Parameters<RequestQueue["dequeue"]>[1],
  ): Promise<Lease | undefined> {
    const end = Date.now() + o.timeoutMs;
    while (o.signal?.aborted !== true) {
      const row = this.#of(queue, "QUEUED").find(({ until }) => until <= Date.now());
      if (row !== undefined) return this.#lease(queue, row, o.leaseMs);
      if (Date.now() >= end) return undefined;
      // A database would send a notification.
      await pause(10, undefined, { signal: o.signal }).catch(() => undefined);
    }
    return undefined;
  }

  async extend(lease: Lease, leaseMs = lease.leaseMs): Promise<boolean> {
    return this.#change(lease, () => ({ until: Date.now() + leaseMs }));
  }

  async acknowledge(lease: Lease): Promise<boolean> {
    return this.#change(lease, () => ({ state: "DONE" }));
  }

  async deadLetter(lease: Lease, reason: string): Promise<boolean> {
    return this.#change(lease, () => ({ state: "DEAD", reason: reason.slice(0, 1_500) }));
  }

  async release(
    lease: Lease,
    { delayMs = 0, blame = true }: { readonly delayMs?: number; readonly blame?: boolean } = {},
  ): Promise<boolean> {
    const until = Date.now() + delayMs;
    return this.#change(lease, ({ attempt }) => {
      return { state: "QUEUED", until, attempt: blame ? attempt : attempt - 1 };
    });
  }

  async deadLetters(queue: string): Promise<readonly Row[]> {
    return this.#of(queue, "DEAD");
  }

  async redrive(queue: string, requestId: string): Promise<boolean> {
    const row = this.#of(queue, "DEAD").find(({ request }) => request.requestId === requestId);
    if (row !== undefined) Object.assign(row, { state: "QUEUED", attempt: 0, until: 0 });
    return row !== undefined;
  }

  async status(queue: string, requestId: string): Promise<QueueState | undefined> {
    this.#of(queue, "LEASED"); // ends expired leases
    return this.#rows.get(`${queue}/${requestId}`)?.state;
  }

  async depth(queue: string): Promise<QueueDepth> {
    const queued = this.#of(queue, "QUEUED");
    const oldestWaitMs = Date.now() - (queued[0]?.acceptedAt ?? Date.now());
    const [leased, dead] = [this.#of(queue, "LEASED").length, this.#of(queue, "DEAD").length];
    return { queued: queued.length, leased, dead, oldestWaitMs };
  }

  #of(queue: string, state: QueueState): readonly Row[] {
    const rows = [...this.#rows].filter(([key]) => key.startsWith(`${queue}/`));
    for (const [, row] of rows)
      if (row.state === "LEASED" && row.until <= Date.now())
        Object.assign(row, { state: "QUEUED", until: 0 });
    return rows.map(([, row]) => row).filter((row) => row.state === state);
  }

  #lease(queue: string, row: Row, leaseMs: number): Lease {
    const token = `token-${++this.#tokens}`;
    const attempt = row.attempt + 1;
    Object.assign(row, { state: "LEASED", token, attempt, until: Date.now() + leaseMs });
    const { request, acceptedAt } = row;
    return { queue, request, token, attempt, leaseMs, waitedMs: Date.now() - acceptedAt };
  }

  #change({ queue, token }: Lease, change: (row: Row) => Partial<Row>): boolean {
    const row = this.#of(queue, "LEASED").find((each) => each.token === token);
    if (row !== undefined) Object.assign(row, change(row));
    return row !== undefined;
  }
}

/** Returns the fields that must be equal in two requests with one id. */
function contentOf({ to, type, task, context, inputs }: WorkRequest): string {
  return JSON.stringify([to, type, task, context, inputs]);
}

/** Results in a map. */
export class MapResults implements ResultStore {
  readonly #results = new Map<
    string,
    { readonly response: WorkResponse; readonly until: number }
  >();
  readonly #waiting = new Map<string, Set<(response: WorkResponse) => void>>();

  async store(id: string, response: WorkResponse, ttlMs: number): Promise<boolean> {
    if (this.#kept(id) !== undefined) return false; // no await between this check and the change
    this.#results.set(id, { response: structuredClone(response), until: Date.now() + ttlMs });
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const callback of waiting) tryCall(() => callback(response));
    return true;
  }

  async retrieve(id: string): Promise<WorkResponse | undefined> {
    return this.#kept(id);
  }

  async forget(id: string): Promise<void> {
    this.#results.delete(id);
  }

  async subscribe(id: string, callback: (response: WorkResponse) => void): Promise<() => void> {
    const there = this.#kept(id);
    if (there !== undefined) tryCall(() => callback(there));
    const own = (response: WorkResponse): void => callback(response);
    const waiting = this.#waiting.get(id) ?? new Set();
    if (there === undefined) this.#waiting.set(id, waiting.add(own));
    return () => void waiting.delete(own);
  }

  #kept(id: string): WorkResponse | undefined {
    const kept = this.#results.get(id);
    return kept === undefined || kept.until <= Date.now() ? undefined : kept.response;
  }
}

/** Isolates a failing subscriber from the other subscribers. */
function tryCall(call: () => void): void {
  try {
    call();
  } catch {
    // Errors of a subscriber are ignored.
  }
}
