import type { Principal } from "../../../contracts/http-route.js";
import type { Fields } from "../../../util/objects.js";
import type { Board } from "../board.js";
import type { AnswerPlace, RunLog } from "../feed/run-log.js";
import type { HelloFrame, ReviewAckFrame, ServerFrame } from "../protocol/messages.js";
import type { Connection } from "./connection.js";
import type { EntryFrames } from "./entry-frames.js";
import type { BoardLimits } from "./limits.js";
import { asList, asText } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";
import { PROTOCOL } from "../protocol/messages.js";
import { answerReview } from "./answer-review.js";
import { userOf } from "./board-user.js";
import { pieceFrame } from "./entry-frames.js";

/** A run that a page shows. */
interface Subscription {
  readonly log: RunLog;
  /** The number of the last entry that was sent. */
  sent: number;
  /**
   * The tasks whose entries are sent in full, with the sent positions of their streamed answers.
   */
  watched: Map<string, AnswerPlace | undefined>;
  /** Ends the request to stream models. */
  release: (() => void) | undefined;
}

/** The functions that all clients share. */
export interface ClientSurroundings {
  readonly board: Board;
  readonly limits: BoardLimits;
  readonly frames: EntryFrames;
  /** Returns the bytes of a frame with these summaries. */
  runsFrame(runIds: Iterable<string>): Uint8Array;
  /** Returns the bytes of the last frame with reviews. */
  reviewsFrame(): Promise<Uint8Array>;
  onError(error: unknown): void;
}

/** An authenticated connection with the protocol of the page. */
export class PageClient {
  readonly #connection: Connection;
  readonly #principal: Principal;
  readonly #around: ClientSurroundings;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Runs whose summaries changed while sending was blocked. */
  readonly #owedRuns = new Set<string>();
  #owesReviews = false;
  /** Sending is blocked before the first frame, and while the socket has too much unsent data. */
  #isHeld = true;

  constructor(connection: Connection, principal: Principal, around: ClientSurroundings) {
    this.#connection = connection;
    this.#principal = principal;
    this.#around = around;
  }

  /** Sends the first frame. */
  async greet(): Promise<void> {
    const { board } = this.#around;
    const [runs, reviews] = await Promise.all([board.runs.latest(), board.desk.pending()]);
    this.#frame({
      type: "hello",
      protocol: PROTOCOL,
      epoch: board.epoch,
      serverTimeMs: board.clock.now().getTime(),
      user: userOf(this.#principal),
      runs,
      reviews,
      answered: board.desk.answered,
      conversations: board.conversations,
      services: board.services.length,
    } satisfies HelloFrame);
    this.#isHeld = false;
    this.#sendBlocked();
  }

  /** Handles a message. Ignores unknown types. */
  take(message: Fields): void {
    switch (message["type"]) {
      case "subscribe":
        return void this.#subscribe(message).catch(this.#around.onError);
      case "unsubscribe":
        return this.#unsubscribe(asText(message["runId"]));
      case "watch":
        return this.#watch(message);
      case "review_decision":
        return void this.#decide(message);
      case "ping":
        return this.#frame({ type: "pong" });
    }
  }

  /** Sends the new entries of a changed run. */
  flush(log: RunLog): void {
    const subscription = this.#subscriptions.get(log.runId);
    if (subscription !== undefined && !this.#isHeld) this.#deliver(subscription);
  }

  sendRuns(bytes: Uint8Array, runIds: Iterable<string>): void {
    if (!this.#isHeld) return this.#bytes(bytes);
    for (const runId of runIds) this.#owedRuns.add(runId);
  }

  sendReviews(bytes: Uint8Array): void {
    if (this.#isHeld) this.#owesReviews = true;
    else this.#bytes(bytes);
  }

  beat(serverTimeMs: number): void {
    this.#connection.ping();
    if (!this.#isHeld) this.#frame({ type: "heartbeat", serverTimeMs });
  }

  end(reason: string, code: number): void {
    this.#frame({ type: "closing", reason });
    this.#connection.close(code, reason);
  }

  /** Called when the connection is closed. */
  dispose(): void {
    for (const runId of [...this.#subscriptions.keys()]) this.#unsubscribe(runId);
    this.#isHeld = true;
  }

  async #subscribe({ runId: id, after = -1, epoch }: Fields): Promise<void> {
    const { board, limits } = this.#around;
    const runId = asText(id);
    if (runId === "" || typeof after !== "number") return;
    this.#unsubscribe(runId);
    const log = board.feed.get(runId);
    if (log === undefined) return this.#subscribeStored(runId, after);
    const isOther = epoch !== undefined && epoch !== board.epoch;
    const isThere = Number.isInteger(after) && after >= -1 && after <= log.n;
    if (isOther || !isThere || log.n - after > limits.missedEntries)
      return this.#frame({ type: "resync", runId, n: log.n });
    const subscription = { log, sent: after, watched: new Map(), release: undefined };
    this.#subscriptions.set(runId, subscription);
    if (!this.#isHeld) this.#deliver(subscription);
  }

  /** Subscribes to a run that is not in memory and therefore has no further entries. */
  async #subscribeStored(runId: string, after: number): Promise<void> {
    const n = await this.#around.board.runs.lastOf(runId);
    if (n !== after || n < 0) this.#frame({ type: "resync", runId, n });
  }

  #unsubscribe(runId: string): void {
    this.#subscriptions.get(runId)?.release?.();
    this.#subscriptions.delete(runId);
  }

  #watch({ runId, tasks }: Fields): void {
    const subscription = this.#subscriptions.get(asText(runId));
    if (subscription === undefined) return;
    const asked = asList(tasks).filter((task) => typeof task === "string");
    const { watched } = subscription;
    const kept = asked.slice(0, this.#around.limits.watchedTasks);
    subscription.watched = new Map(kept.map((task) => [task, watched.get(task)]));
    subscription.release?.();
    const { board } = this.#around;
    if (kept.length === 0) subscription.release = undefined;
    else if (subscription.log.origin === undefined) subscription.release = board.feed.watch();
    else subscription.release = board.processes.watch(subscription.log, kept);
    if (!this.#isHeld) this.#deliver(subscription);
  }

  async #decide({ type: _, reviewId: id, ...body }: Fields): Promise<void> {
    const reviewId = asText(id);
    let ack: Omit<ReviewAckFrame, "type" | "reviewId">;
    try {
      const { by } = await answerReview(this.#around.board, reviewId, body, this.#principal);
      ack = { status: "APPLIED", by };
    } catch (error) {
      if (!(error instanceof HttpRefusal)) this.#around.onError(error);
      ack = ackOf(error);
    }
    this.#frame({ type: "review_ack", reviewId, ...ack });
  }

  #deliver(subscription: Subscription): void {
    const { log, watched } = subscription;
    const { frames, board } = this.#around;
    while (subscription.sent < log.n && !this.#isHeld) {
      const { to, bytes } = frames.after(log, subscription.sent, watched);
      subscription.sent = to;
      this.#bytes(bytes);
    }
    if (watched.size === 0 || this.#isHeld) return;
    const now = board.clock.now().toISOString();
    const pieces = [...watched].flatMap(([task, place]) => {
      const piece = log.answerAfter(task, place, now);
      if (piece !== undefined) watched.set(task, piece.place);
      return piece?.entry ?? [];
    });
    if (pieces.length > 0) this.#bytes(pieceFrame(log, subscription.sent, pieces));
  }

  /** Sends the entries that were blocked. A run with too many such entries must be fetched. */
  #sendBlocked(): void {
    for (const [runId, subscription] of this.#subscriptions) {
      const { log, sent } = subscription;
      if (log.n - sent <= this.#around.limits.missedEntries) this.#deliver(subscription);
      else {
        this.#unsubscribe(runId);
        this.#frame({ type: "resync", runId, n: log.n });
      }
      if (this.#isHeld) return;
    }
    if (this.#owedRuns.size > 0) this.#bytes(this.#around.runsFrame(this.#owedRuns));
    this.#owedRuns.clear();
    if (this.#owesReviews) void this.#sendOwedReviews().catch(this.#around.onError);
  }

  async #sendOwedReviews(): Promise<void> {
    this.#owesReviews = false;
    this.sendReviews(await this.#around.reviewsFrame());
  }

  #frame(frame: ServerFrame): void {
    this.#connection.sendFrame(frame);
    this.#hold();
  }

  #bytes(bytes: Uint8Array): void {
    this.#connection.send(bytes);
    this.#hold();
  }

  #hold(): void {
    if (this.#isHeld || !this.#connection.isFull) return;
    this.#isHeld = true;
    this.#connection.whenDrained(() => {
      this.#isHeld = false;
      this.#sendBlocked();
    });
  }
}

const STATUSES: Readonly<Record<number, ReviewAckFrame["status"]>> = Object.freeze({
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "RESOLVED",
  410: "EXPIRED",
});

function ackOf(error: unknown): Omit<ReviewAckFrame, "type" | "reviewId"> {
  if (!(error instanceof HttpRefusal))
    return { status: "INVALID", message: "The answer could not be passed on" };
  const by = error.extra.fields?.["by"];
  return {
    status: STATUSES[error.status] ?? "INVALID",
    message: messageOf(error),
    ...(typeof by === "string" && { by }),
  };
}
