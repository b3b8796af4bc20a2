import type { Ev } from "../../../contracts/events.js";
import type { Principal } from "../../../contracts/http-route.js";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { Fields } from "../../../util/objects.js";
import type { Board } from "../board.js";
import type { AnswerPlace, RunLog } from "../feed/run-log.js";
import type { Connection } from "./connection.js";
import { asText } from "../../../util/objects.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";
import {
  javaHello,
  JavaIterations,
  javaMessage,
  javaToken,
  type JavaMessage,
} from "../protocol/java-messages.js";
import { answerReview } from "./answer-review.js";

/**
 * The connected viewers of the Java version. They show only the newest run. All viewers receive the
 * same messages.
 */
export class JavaClients {
  readonly #board: Board;
  readonly #onError: (error: unknown) => void;
  readonly #clients = new Set<JavaClient>();
  readonly #iterations = new JavaIterations();
  readonly #places = new Map<string, AnswerPlace>();
  #stops: (() => void)[] = [];
  #log: RunLog | undefined;

  constructor(board: Board, onError: (error: unknown) => void) {
    this.#board = board;
    this.#onError = onError;
  }

  /** Adds a viewer. It receives nothing before `greet`. */
  join(connection: Connection, principal: Principal): JavaClient {
    const client = new JavaClient(connection, principal, this.#board, this.#onError);
    if (this.#clients.size === 0) this.#begin();
    this.#clients.add(client);
    return client;
  }

  /** Sends the run so far to a viewer. */
  async greet(client: JavaClient): Promise<void> {
    const reviews = await this.#board.desk.pending();
    const log = this.#log;
    const entries = log && Array.from({ length: log.n + 1 }, (_, n) => log.entry(n, "full"));
    client.open(javaHello(entries, this.#iterations), () => this.greet(client));
    for (const review of reviews)
      client.send(reviewMessage({ ...review, type: "review_requested", n: 0, at: "" }));
  }

  remove(client: JavaClient): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  #begin(): void {
    const { feed } = this.#board;
    this.#log = feed.logs[0];
    this.#stops = [
      feed.watch(),
      feed.listen({
        onEntry: (log) => this.#entry(log),
        onToken: (log, taskId) => this.#token(log, taskId),
        onMessages: (log, event) => this.#messages(log, event),
      }),
    ];
  }

  #entry(log: RunLog): void {
    const entry = log.entry(log.n, "full");
    if (entry.type === "ensemble_started") {
      this.#log = log;
      this.#places.clear();
    }
    if (log === this.#log || entry.type.startsWith("review_")) this.#send(javaMessage(entry));
  }

  #messages(log: RunLog, event: Ev<"llm_iteration_started">): void {
    if (log === this.#log) this.#send(javaMessage(log.passed(event)));
  }

  #token(log: RunLog, taskId: string): void {
    if (log !== this.#log) return;
    const now = this.#board.clock.now().toISOString();
    const piece = log.answerAfter(taskId, this.#places.get(taskId), now);
    const task = log.named(taskId);
    if (piece === undefined || task === undefined) return;
    this.#places.set(taskId, piece.place);
    this.#send(javaToken(piece.entry, task));
  }

  #send(message: JavaMessage | undefined): void {
    if (message === undefined) return;
    this.#iterations.add(message);
    const text = JSON.stringify(message);
    for (const client of this.#clients) client.send(text);
  }
}

function reviewMessage(entry: LogEntry): string {
  return JSON.stringify(javaMessage(entry));
}

/**
 * One viewer. A viewer that reads too slowly receives the run so far again after it has read the
 * sent data.
 */
export class JavaClient {
  readonly #connection: Connection;
  readonly #principal: Principal;
  readonly #board: Board;
  readonly #onError: (error: unknown) => void;
  #isOpen = false;
  #reopen: () => Promise<void> = () => Promise.resolve();

  constructor(
    connection: Connection,
    principal: Principal,
    board: Board,
    onError: (error: unknown) => void,
  ) {
    this.#connection = connection;
    this.#principal = principal;
    this.#board = board;
    this.#onError = onError;
  }

  /** Sends the first message before all other messages. `reopen` sends it again. */
  open(hello: JavaMessage, reopen: () => Promise<void>): void {
    this.#reopen = reopen;
    this.#isOpen = true;
    this.send(JSON.stringify(hello));
  }

  send(text: string): void {
    if (!this.#isOpen) return;
    this.#connection.send(text);
    if (!this.#connection.isFull) return;
    this.#isOpen = false;
    this.#connection.whenDrained(() => void this.#reopen().catch(this.#onError));
  }

  take(message: Fields): void {
    if (message["type"] === "ping") this.#connection.sendFrame({ type: "pong" });
    if (message["type"] === "review_decision") void this.#decide(message);
  }

  beat(serverTimeMs: number): void {
    this.#connection.ping();
    this.send(JSON.stringify({ type: "heartbeat", serverTimeMs }));
  }

  end(reason: string, code: number): void {
    this.#connection.close(code, reason);
  }

  /**
   * Answers a review. The viewer has no message for the result of an answer, because its dialog
   * closes with the review.
   */
  async #decide({ reviewId, decision, revisedOutput }: Fields): Promise<void> {
    const isEdit = String(decision).toUpperCase() === "EDIT";
    const body = { decision, ...(isEdit && { revisedOutput }) };
    try {
      await answerReview(this.#board, asText(reviewId), body, this.#principal);
    } catch (error) {
      if (!(error instanceof HttpRefusal)) this.#onError(error);
    }
  }
}
