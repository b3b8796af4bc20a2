import type {
  DeadLetter,
  EnqueueReceipt,
  Lease,
  QueueDepth,
  QueueState,
  RequestQueue,
  WorkRequest,
} from "../../../contracts/network.js";
import type { SqlRow, SqlValue } from "../../shared/sql/sql-database.js";
import type { SqlNetwork } from "./sql-network.js";
import { RequestConflictError } from "../../../contracts/network-errors.js";
import {
  checkOptions,
  preview,
  requireDelay,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { systemClock, uuidGenerator } from "../../../util/runtime.js";
import { jsonOf } from "../../shared/json-data.js";
import { fromColumn, indexedKey, toColumn } from "../../shared/sql/sql-text.js";
import { letterReason } from "../shared/dead-letters.js";
import { checkDequeue } from "../shared/local-queue.js";
import { checkWorkRequest, priorityRank, workFingerprint } from "../shared/work-request.js";
import { Bell } from "./bell.js";
import { queueStatements, type QueueStatements } from "./queue-statements.js";

/** Interval in ms in which a consumer reads without a notification. */
const LOOK_MS = 2_000;

type WaitForRequest = Parameters<RequestQueue["dequeue"]>[1];

/** The result of a read: a request, or the time of the next one. */
interface Look {
  readonly lease?: Lease;
  readonly nextMs?: number;
}

/** Requests as rows of a table. A consumer locks a row while it leases a request. */
export class SqlQueue implements RequestQueue {
  readonly #network: SqlNetwork;
  readonly #statements: QueueStatements;
  /** Tokens of deliveries whose answer was lost, with their queues. */
  readonly #lost = new Map<string, string>();

  constructor(network: SqlNetwork) {
    this.#network = network;
    this.#statements = queueStatements(network.schema);
  }

  async enqueue(
    queue: string,
    request: WorkRequest,
    options: { readonly maxQueued?: number | undefined } = {},
  ): Promise<EnqueueReceipt> {
    checkWorkRequest(request);
    checkOptions("enqueue()", options, ["maxQueued"]);
    requireInteger("enqueue() maxQueued", options.maxQueued, 0);
    const key = queueKey(queue);
    const [row] = await this.#network.query(this.#statements.accept, [
      key,
      toColumn(request.requestId),
      workFingerprint(request),
      priorityRank(request) * this.#network.rules.agingMs,
      String(options.maxQueued ?? ""),
      jsonOf("A request", request),
    ]);
    const status = row?.["status"];
    if (status === "CONFLICT") throw new RequestConflictError(request.requestId);
    if (status === "FULL" || status === "DUPLICATE") return { status };
    this.#network.notifications.wake("queue", key);
    return { status: "ACCEPTED" };
  }

  async dequeue(queue: string, options: WaitForRequest): Promise<Lease | undefined> {
    checkDequeue(options);
    const { timeoutMs, leaseMs, signal } = options;
    const end = systemClock.monotonicMs() + timeoutMs;
    const key = queueKey(queue);
    const bell = new Bell();
    const leave = this.#network.notifications.on("queue", key, () => bell.ring());
    const leaveClosing = this.#network.onClose(() => bell.ring());
    const hasLeft = (): boolean => signal?.aborted === true;
    try {
      while (!hasLeft()) {
        const { lease, nextMs = LOOK_MS } = await this.#look(queue, leaseMs);
        if (lease !== undefined && hasLeft()) await this.#giveBack(lease);
        else if (lease !== undefined) return lease;
        const leftMs = end - systemClock.monotonicMs();
        if (leftMs <= 0) return undefined;
        await bell.wait(Math.max(1, Math.min(leftMs, LOOK_MS, nextMs)), signal);
        if (this.#network.isClosed) return undefined;
      }
      return undefined;
    } finally {
      leave();
      leaveClosing();
    }
  }

  async extend(lease: Lease, leaseMs: number = lease.leaseMs): Promise<boolean> {
    requireDuration("extend() leaseMs", leaseMs);
    return this.#asHolder(this.#statements.extend, lease, leaseMs);
  }

  async acknowledge(lease: Lease): Promise<boolean> {
    return this.#asHolder(this.#statements.acknowledge, lease, this.#network.rules.idTtlMs);
  }

  async release(
    lease: Lease,
    options: { readonly delayMs?: number | undefined; readonly blame?: boolean | undefined } = {},
  ): Promise<boolean> {
    checkOptions("release()", options, ["delayMs", "blame"]);
    requireDelay("release() delayMs", options.delayMs);
    const { delayMs = 0, blame = true } = options;
    const isHeld = await this.#asHolder(this.#statements.release, lease, delayMs, blame ? 0 : 1);
    if (isHeld) this.#network.notifications.wake("queue", queueKey(lease.queue));
    return isHeld;
  }

  async deadLetter(lease: Lease, reason: string): Promise<boolean> {
    const kept = letterReason(reason);
    return this.#asHolder(this.#statements.bury, lease, toColumn(kept));
  }

  async deadLetters(queue: string): Promise<readonly DeadLetter[]> {
    const rows = await this.#network.query(this.#statements.dead, [queueKey(queue)]);
    return rows.map((row) => ({
      request: keptRequest(row),
      reason: fromColumn(row["reason"] ?? ""),
    }));
  }

  async redrive(queue: string, requestId: string): Promise<boolean> {
    const values = [queueKey(queue), toColumn(requestId)];
    const rows = await this.#network.query(this.#statements.redrive, values);
    if (rows.length > 0) this.#network.notifications.wake("queue", queueKey(queue));
    return rows.length > 0;
  }

  async status(queue: string, requestId: string): Promise<QueueState | undefined> {
    const values = [queueKey(queue), toColumn(requestId)];
    const [row] = await this.#network.query(this.#statements.status, values);
    return (row?.["state"] ?? undefined) as QueueState | undefined; // written by these statements
  }

  async depth(queue: string): Promise<QueueDepth> {
    const [row] = await this.#network.query(this.#statements.depth, [queueKey(queue)]);
    return {
      queued: Number(row?.["queued"]),
      leased: Number(row?.["leased"]),
      dead: Number(row?.["dead"]),
      oldestWaitMs: Math.max(0, Number(row?.["oldest"])),
    };
  }

  /** Closes the whole backend, because its parts share their connections. */
  close(): Promise<void> {
    return this.#network.close();
  }

  /**
   * Leases a request. A delivery whose answer was lost is returned before the next one, and does
   * not count.
   */
  async #look(queue: string, leaseMs: number): Promise<Look> {
    const key = queueKey(queue);
    await this.#recover(key);
    const token = uuidGenerator.next();
    const [row] = await this.#take(key, token, leaseMs);
    if (row === undefined || row["content"] === null) {
      const next = row?.["next_ms"];
      return typeof next === "string" ? { nextMs: Number(next) } : {};
    }
    const request = keptRequest(row);
    const waitedMs = Math.max(0, Number(row["waited_ms"]));
    return {
      lease: { queue, request, token, attempt: Number(row["attempt"]), leaseMs, waitedMs },
    };
  }

  async #take(key: string, token: string, leaseMs: number): Promise<readonly SqlRow[]> {
    try {
      return await this.#network.queryOnce(this.#statements.take, [key, token, leaseMs]);
    } catch (error) {
      this.#lost.set(token, key); // it may have been executed
      throw error;
    }
  }

  async #recover(key: string): Promise<void> {
    const tokens = [...this.#lost].filter(([, queue]) => queue === key).map(([token]) => token);
    if (tokens.length === 0) return;
    await this.#network.queryOnce(this.#statements.recover, [key, tokens]);
    for (const token of tokens) this.#lost.delete(token);
  }

  /** Releases the request of a consumer that does not wait any more. */
  async #giveBack(lease: Lease): Promise<void> {
    await this.release(lease, { blame: false });
  }

  async #asHolder(
    statement: string,
    { queue, request, token }: Lease,
    ...values: readonly SqlValue[]
  ): Promise<boolean> {
    const holder = [queueKey(queue), toColumn(request.requestId), token];
    return (await this.#network.query(statement, [...holder, ...values])).length > 0;
  }
}

/** Returns the column of a queue. @throws ValidationError for a blank name. */
function queueKey(queue: string): string {
  requireText(queue, `queue must be the name of a queue, got: ${preview(queue)}`);
  return indexedKey(queue);
}

function keptRequest(row: SqlRow): WorkRequest {
  // The request was checked when it was accepted.
  return deepFreeze(JSON.parse(row["content"] ?? "{}") as WorkRequest);
}
