import type { EventsFrame } from "../protocol/messages.js";
import type { BoardFrame, ProcessRequest } from "../protocol/report-messages.js";
import type { RunFeed } from "../feed/run-feed.js";
import type { RunLog } from "../feed/run-log.js";
import type { RunOrigin } from "../feed/run-origin.js";
import type { ReviewDesk } from "../server/review-desk.js";
import type { BoardLimits } from "../server/limits.js";
import { asList, asText, isObject, type Fields } from "../../../util/objects.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";
import { NO_OFFERS, offersIn, type ProcessOffers } from "./process-offers.js";
import { answeredIn, isEntry, isId, reviewsIn } from "./report-checks.js";

/** The connection of a process. */
export interface ProcessLink {
  send(frame: BoardFrame): void;
  close(code: number, reason: string): void;
}

/** What a process answered to a request. */
export interface ProcessAnswer {
  readonly status: number;
  /** JSON. */
  readonly text: string;
}

interface PassedRequest {
  readonly resolve: (answer: ProcessAnswer) => void;
  readonly reject: (error: HttpRefusal) => void;
  readonly timer: NodeJS.Timeout;
}

/** Why a process sends what no process of this package sends. */
export class ReportRefusedError extends Error {}

/** How many runs a board remembers the last entry of. */
const MAX_PLACES = 1_000;
const MAX_REQUESTS = 100;

export interface BoardProcessParts {
  readonly feed: RunFeed;
  readonly desk: ReviewDesk;
  readonly limits: Pick<BoardLimits, "processLostMs" | "processAnswerMs" | "processRuns">;
}

/** Another process on the board: its runs, its reviews, and the way to it. */
export class BoardProcess {
  readonly name: string;
  /** Made by the process at its start. */
  readonly instance: string;
  /** The name of the principal that reports for it. */
  readonly owner: string;
  readonly #parts: BoardProcessParts;
  readonly #origin: RunOrigin;
  /** The number of the last entry of each run, by its id in the process. */
  readonly #places = new Map<string, number>();
  readonly #logs = new Map<string, RunLog>();
  readonly #requests = new Map<number, PassedRequest>();
  readonly #watched = new Map<string, readonly string[]>();
  #offers: ProcessOffers = NO_OFFERS;
  #asked = 0;
  #link: ProcessLink | undefined;
  #lost: NodeJS.Timeout | undefined;

  constructor(
    o: { readonly name: string; readonly instance: string; readonly owner: string },
    parts: BoardProcessParts,
  ) {
    this.name = o.name;
    this.instance = o.instance;
    this.owner = o.owner;
    this.#parts = parts;
    this.#origin = { process: o.name, isAway: false, isLost: false };
  }

  /** What people may start and read there; nothing while it is away. */
  get offers(): ProcessOffers {
    return this.isConnected ? this.#offers : NO_OFFERS;
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  /** Whether nothing of it is on the board, and it is away for long. */
  get isForgettable(): boolean {
    return this.#origin.isLost && this.#logs.size === 0;
  }

  /** The id of a run or review on the board. */
  readonly wholeId = (id: string): string => `${this.name}/${id}`;

  /** Takes a connection, instead of the one before. */
  connect(link: ProcessLink): void {
    this.#link?.close(1001, "Another connection of the process takes over");
    clearTimeout(this.#lost);
    this.#link = link;
    this.#become({ isAway: false, isLost: false });
    link.send({ type: "reported", protocol: 1, runs: Object.fromEntries(this.#places) });
    for (const [runId, tasks] of this.#watched) link.send({ type: "watch", runId, tasks });
  }

  /** A connection has ended. */
  disconnect(link: ProcessLink): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#become({ isAway: true, isLost: false });
    for (const id of [...this.#requests.keys()]) this.#fail(id, away(this.name));
    const { processLostMs } = this.#parts.limits;
    this.#lost = setTimeout(() => this.lose(), processLostMs).unref();
  }

  /** It counts as ended: what it had at work is interrupted, and its reviews wait no more. */
  lose(): void {
    clearTimeout(this.#lost);
    this.#parts.desk.takeFrom(this, undefined);
    this.#become({ isAway: true, isLost: true });
  }

  /** A run is no longer in memory. */
  forget(log: RunLog): void {
    for (const [runId, known] of this.#logs)
      if (known === log) {
        this.#logs.delete(runId);
        this.#watched.delete(runId);
      }
  }

  /** Whose streamed text pages want of a run. */
  watch(log: RunLog, tasks: readonly string[]): void {
    for (const [runId, known] of this.#logs) {
      if (known !== log) continue;
      if (tasks.length === 0) this.#watched.delete(runId);
      else this.#watched.set(runId, tasks);
      this.#link?.send({ type: "watch", runId, tasks });
    }
  }

  /** @throws HttpRefusal 503 while the process is away or has too much to do, 504 where it does not answer */
  ask(request: ProcessRequest): Promise<ProcessAnswer> {
    const link = this.#link;
    if (link === undefined) throw away(this.name);
    if (this.#requests.size >= MAX_REQUESTS)
      throw new HttpRefusal(503, "PROCESS_BUSY", `Process ${this.name} has too many open requests`);
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      const { processAnswerMs } = this.#parts.limits;
      const words = `Process ${this.name} has not answered in time`;
      const late = new HttpRefusal(504, "PROCESS_SILENT", words);
      const timer = setTimeout(() => this.#fail(id, late), processAnswerMs);
      this.#requests.set(id, { resolve, reject, timer });
      link.send({ type: "request", id, ...request });
    });
  }

  /** @throws ReportRefusedError for what no process of this package sends */
  take(message: Fields): void {
    switch (message["type"]) {
      case "events":
        return this.#takeEvents(message);
      case "reviews":
        return this.#parts.desk.takeFrom(this, {
          pending: reviewsIn(message["pending"], this.wholeId),
          answered: answeredIn(message["answered"], this.wholeId),
        });
      case "offers":
        this.#offers = offersIn(message, this.name);
        return;
      case "answer":
        return this.#takeAnswer(message);
    }
  }

  #takeAnswer({ id, status, body }: Fields): void {
    const open = this.#requests.get(Number(id));
    if (open === undefined) return;
    this.#requests.delete(Number(id));
    clearTimeout(open.timer);
    const isStatus = Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;
    open.resolve({ status: isStatus ? Number(status) : 502, text: asText(body) });
  }

  #fail(id: number, error: HttpRefusal): void {
    const open = this.#requests.get(id);
    this.#requests.delete(id);
    clearTimeout(open?.timer);
    open?.reject(error);
  }

  #takeEvents({ runId, events }: Fields | EventsFrame): void {
    if (!isId(runId)) throw new ReportRefusedError("A frame has no valid runId");
    for (const entry of asList(events)) {
      const log = this.#logs.get(runId);
      if (!isEntry(entry)) throw new ReportRefusedError("An entry is none");
      const { taskId, token } = entry;
      if (entry.type === "token") {
        if (log !== undefined && taskId !== undefined)
          this.#parts.feed.receivePiece(log, taskId, asText(token));
        continue;
      }
      const last = log?.n ?? -1;
      if (entry.n <= last) continue;
      if (entry.n > last + 1) return this.#link?.send({ type: "resync", runId, n: last });
      this.#receive(log ?? this.#begun(runId), runId, entry);
    }
    const log = this.#logs.get(runId);
    if (log !== undefined) this.#checked(log, () => log.summary);
  }

  #receive(log: RunLog, runId: string, entry: Parameters<RunFeed["receive"]>[1]): void {
    this.#checked(log, () => this.#parts.feed.receive(log, entry));
    this.#places.delete(runId);
    this.#places.set(runId, log.n);
    for (const oldest of this.#places.keys())
      if (this.#places.size > MAX_PLACES) this.#places.delete(oldest);
  }

  /** @throws ReportRefusedError */
  #begun(runId: string): RunLog {
    const open = [...this.#logs.values()].filter(({ ended }) => !ended);
    if (open.length >= this.#parts.limits.processRuns)
      throw new ReportRefusedError("The process has too many runs at work");
    const log = this.#parts.feed.logFrom(this.wholeId(runId), this.#origin);
    this.#logs.set(runId, log);
    return log;
  }

  /** What can't be shown must not be on the board. @throws ReportRefusedError */
  #checked(log: RunLog, work: () => unknown): void {
    try {
      work();
    } catch (error) {
      this.#parts.feed.discard(log);
      throw new ReportRefusedError("An entry has fields of other types", { cause: error });
    }
  }

  #become({ isAway, isLost }: Pick<RunOrigin, "isAway" | "isLost">): void {
    Object.assign(this.#origin, { isAway, isLost });
    for (const log of this.#logs.values()) this.#parts.feed.marked(log);
  }
}

function away(name: string): HttpRefusal {
  return new HttpRefusal(503, "PROCESS_AWAY", `Process ${name} is not connected`, {
    headers: { "Retry-After": "5" },
  });
}

/** Puts the ids of the board into the JSON answer of a process. */
export function withWholeIds(text: string, wholeId: (id: string) => string): Fields {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (!isObject(body))
    throw new HttpRefusal(502, "PROCESS_FAILED", "The process has not answered with JSON");
  const whole = ["runId", "forkedFrom", "reviewId"].flatMap((name) => {
    const id = body[name];
    return typeof id === "string" ? [[name, wholeId(id)] as const] : [];
  });
  return { ...body, ...Object.fromEntries(whole) };
}
