import type { Fields } from "../../../util/objects.js";
import type { Board } from "../board.js";
import type { AnswerPlace, RunLog } from "../feed/run-log.js";
import type { ProcessFrame } from "../protocol/report-messages.js";
import type { BoardLimits } from "../server/limits.js";
import type { Connection } from "../server/connection.js";
import type { ReportTarget } from "./report-target.js";
import { firstEnding } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { asFields, asList, asText } from "../../../util/objects.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { PROTOCOL } from "../protocol/messages.js";
import { boardRoutes } from "../server/board-routes.js";
import { frameBytes, pieceFrame } from "../server/entry-frames.js";
import { answerBoard } from "./board-requests.js";
import { BoardLink } from "./board-link.js";
import { boardOffers } from "./offers.js";
import { processNameOf } from "./report-target.js";
import { WaitingRuns } from "./waiting-runs.js";

/** Maximum size of an entry in bytes. A larger entry is sent without its texts. */
const MAX_ENTRY_BYTES = 2 * 1024 * 1024;
const MAX_WATCHED = 64;

/** Tasks whose streamed text the board requests, with the sent position. */
interface Watch {
  readonly tasks: Map<string, AnswerPlace | undefined>;
  readonly release: () => void;
}

/**
 * Sends the runs and reviews of a process to a board, and executes the requests of its users. Runs
 * never wait for the reporter.
 */
export class Reporter {
  readonly #board: Board;
  readonly #target: ReportTarget;
  readonly #limits: BoardLimits;
  readonly #instance: string;
  readonly #runs: WaitingRuns;
  readonly #link: BoardLink;
  readonly #watches = new Map<string, Watch>();
  readonly #stops: readonly (() => void)[];
  readonly #changed = new Set<RunLog>();
  #connection: Connection | undefined;
  /** Whether the board has sent its known runs. */
  #isReady = false;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;
  #reviews = "";
  #waitingReviews = 0;
  #warned = new Set<string>();
  #wake: () => void = () => undefined;

  constructor(
    board: Board,
    target: ReportTarget,
    o: { readonly limits: BoardLimits; readonly instance: string },
  ) {
    this.#board = board;
    this.#target = target;
    this.#limits = o.limits;
    this.#instance = o.instance;
    const lost = (): void => this.#warn("a run was dropped: too much waits for the board");
    this.#runs = new WaitingRuns(board.feed, o.limits.waitingEntries, lost);
    this.#link = new BoardLink(target, {
      clock: board.clock,
      limits: o.limits,
      listener: {
        onOpen: (connection) => this.#opened(connection),
        onMessage: (message) => this.#take(message),
        onClosed: () => this.#closed(),
        onRefused: (reason) =>
          this.#warn(`the board at ${target.url} refuses this process: ${reason}`),
      },
    });
    this.#stops = [
      board.feed.listen({
        onEntry: (log) => this.#change(log),
        onToken: (log) => (this.#watches.has(log.runId) ? this.#change(log) : undefined),
        onRemoved: (log) => this.#runs.removed(log),
      }),
      board.desk.onChange(() => void this.#sendReviews()),
    ];
    this.#link.connect();
  }

  /** Sends waiting entries within the time limit, and closes the connection. */
  async close(): Promise<void> {
    if (this.#connection !== undefined && !this.#isIdle) {
      const idle = new Promise<void>((resolve) => (this.#wake = resolve));
      this.#flush();
      await firstEnding(idle, { timeoutMs: this.#limits.closeMs });
    }
    for (const stop of this.#stops) stop();
    clearTimeout(this.#timer);
    this.#closed();
    this.#link.close();
  }

  /** Sends the teams and threads of this process. */
  offer(): void {
    if (!this.#isReady) return;
    try {
      this.#send(boardOffers(this.#board));
    } catch (error) {
      this.#warn(`the board does not get the ensembles of this process: ${messageOf(error)}`);
    }
  }

  /** Whether the board has received everything. */
  get #isIdle(): boolean {
    return this.#isReady && !this.#isHeld && this.#runs.open.length === 0;
  }

  #opened(connection: Connection): void {
    this.#connection = connection;
    this.#send({
      type: "report",
      protocol: PROTOCOL,
      process: processNameOf(this.#target),
      instance: this.#instance,
    });
  }

  #closed(): void {
    this.#connection = undefined;
    this.#isReady = this.#isHeld = false;
    this.#reviews = "";
    for (const { release } of this.#watches.values()) release();
    this.#watches.clear();
    this.#wake();
  }

  #take(message: Fields): void {
    switch (message["type"]) {
      case "reported":
        return this.#begin(message);
      case "resync":
        return this.#resync(message);
      case "watch":
        return this.#watch(asText(message["runId"]), asList(message["tasks"]));
      case "request":
        return void this.#answer(message);
      case "hello":
        return this.#link.refuse("it does not accept reports, because its version is older");
    }
  }

  #begin({ protocol, runs }: Fields): void {
    if (protocol !== PROTOCOL)
      return this.#link.refuse(`it uses version ${String(protocol)} of the protocol`);
    this.#link.accepted();
    this.#warned.clear();
    this.#isReady = true;
    this.#runs.begin(asFields(runs) ?? {});
    for (const log of this.#runs.open) this.#changed.add(log);
    this.offer();
    void this.#sendReviews();
    this.#flush();
  }

  #resync({ runId, n }: Fields): void {
    const log = this.#runs.find(asText(runId));
    if (log === undefined || typeof n !== "number") return;
    this.#runs.sent(log, Math.max(-1, Math.min(n, log.n)));
    this.#change(log);
  }

  #watch(runId: string, asked: readonly unknown[]): void {
    const before = this.#watches.get(runId);
    const tasks = asked.filter((task) => typeof task === "string").slice(0, MAX_WATCHED);
    this.#watches.delete(runId);
    if (tasks.length > 0)
      this.#watches.set(runId, {
        tasks: new Map(tasks.map((task) => [task, before?.tasks.get(task)])),
        release: this.#board.feed.watch(),
      });
    before?.release();
    const log = this.#runs.find(runId);
    if (log !== undefined) this.#change(log);
  }

  async #answer(request: Fields): Promise<void> {
    try {
      const { basePath } = this.#board.settings;
      const state = { clients: 0, isDraining: false, openStream: () => () => undefined };
      const routes = boardRoutes(this.#board, state).map((route) => ({
        ...route,
        path: route.path.slice(basePath.length),
      }));
      this.#send(await answerBoard(routes, request));
    } catch (error) {
      this.#warn(`a request of the board failed: ${messageOf(error)}`);
    }
  }

  #change(log: RunLog): void {
    // Waiting entries are found once the board is connected.
    if (log.origin !== undefined || !this.#isReady) return;
    this.#changed.add(log);
    this.#link.keepAlive(true);
    this.#timer ??= setTimeout(() => this.#flush(), this.#limits.flushMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const log of this.#changed) {
      if (!this.#isReady || this.#isHeld) return;
      this.#deliver(log);
      if (!this.#isHeld) this.#changed.delete(log);
    }
    this.#settle();
  }

  /** Waits until the sent data has left the process. */
  #settle(): void {
    const connection = this.#connection;
    if (connection === undefined || !this.#isIdle) return;
    if (connection.isEmpty) this.#drained();
    else connection.whenDrained(() => this.#drained());
  }

  #deliver(log: RunLog): void {
    while (this.#runs.isOpen(log) && this.#isReady && !this.#isHeld) {
      const { to, bytes } = this.#frameAfter(log, this.#runs.sentOf(log));
      this.#runs.sent(log, to);
      this.#bytes(bytes);
    }
    const watch = this.#watches.get(log.runId);
    if (watch === undefined || this.#isHeld) return;
    const now = this.#board.clock.now().toISOString();
    const pieces = [...watch.tasks].flatMap(([task, place]) => {
      const piece = log.answerAfter(task, place, now);
      if (piece !== undefined) watch.tasks.set(task, piece.place);
      return piece?.entry ?? [];
    });
    if (pieces.length > 0) this.#bytes(pieceFrame(log, log.n, pieces));
  }

  /**
   * Returns the next frame. Does not cache the encoded texts, because they have no other reader in
   * this process.
   */
  #frameAfter(log: RunLog, sent: number): { readonly to: number; readonly bytes: Uint8Array } {
    const texts: string[] = [];
    let [to, length] = [sent, 0];
    while (to < log.n && length < this.#limits.frameBytes) {
      to++;
      let text = JSON.stringify(log.entry(to, "full"));
      if (text.length > MAX_ENTRY_BYTES / 3 && Buffer.byteLength(text) > MAX_ENTRY_BYTES)
        text = JSON.stringify({ ...log.entry(to, "slim"), trimmed: true });
      texts.push(text);
      length += text.length;
    }
    return { to, bytes: frameBytes(log.runId, to, texts) };
  }

  /** Called when everything is sent. Then only waiting reviews keep the process alive. */
  #drained(): void {
    if (!this.#isIdle) return;
    this.#link.keepAlive(this.#waitingReviews > 0);
    this.#wake();
  }

  async #sendReviews(): Promise<void> {
    if (!this.#isReady) return;
    try {
      const pending = await this.#board.desk.pending();
      const text = JSON.stringify({
        type: "reviews",
        pending,
        answered: this.#board.desk.answered,
      });
      this.#waitingReviews = pending.length;
      if (text === this.#reviews || !this.#isReady) return;
      this.#reviews = text;
      this.#bytes(Buffer.from(text));
      this.#settle();
    } catch (error) {
      this.#warn(`the reviews could not be read: ${messageOf(error)}`);
    }
  }

  #send(frame: ProcessFrame): void {
    this.#connection?.sendFrame(frame);
  }

  #bytes(bytes: Uint8Array): void {
    const connection = this.#connection;
    connection?.send(bytes);
    if (connection?.isFull !== true || this.#isHeld) return;
    this.#isHeld = true;
    connection.whenDrained(() => {
      if (this.#connection !== connection) return;
      this.#isHeld = false;
      this.#flush();
    });
  }

  /** Warns once for each reason, until the board accepts the process. */
  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    emitProcessWarning(`dashboard: ${message}`);
  }
}
