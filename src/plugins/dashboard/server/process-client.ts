import type { Principal } from "../../../contracts/http-route.js";
import type { Fields } from "../../../util/objects.js";
import type { BoardProcess, ProcessLink } from "../processes/board-process.js";
import type { BoardProcesses } from "../processes/board-processes.js";
import type { BoardFrame } from "../protocol/report-messages.js";
import type { Connection } from "./connection.js";
import { ReportRefusedError } from "../processes/board-process.js";
import { CLOSE } from "./connection.js";

/** The connection of a process that reports its runs. */
export class ProcessClient implements ProcessLink {
  readonly #connection: Connection;
  readonly #principal: Principal;
  readonly #processes: BoardProcesses;
  #process: BoardProcess | undefined;

  constructor(connection: Connection, principal: Principal, processes: BoardProcesses) {
    this.#connection = connection;
    this.#principal = principal;
    this.#processes = processes;
  }

  take(message: Fields): void {
    if (this.#process !== undefined) return this.#takeReport(this.#process, message);
    if (message["type"] !== "report")
      return this.close(CLOSE.refused, "The first frame is not a report");
    const joined = this.#processes.join(message, this.#principal, this);
    if (typeof joined === "string") this.close(CLOSE.refused, joined);
    else this.#process = joined;
  }

  send(frame: BoardFrame): void {
    this.#connection.sendFrame(frame);
  }

  close(code: number, reason: string): void {
    this.#connection.close(code, reason);
  }

  beat(): void {
    this.#connection.ping();
  }

  end(reason: string, code: number): void {
    this.close(code, reason);
  }

  /** Called when the connection is closed. */
  dispose(): void {
    this.#process?.disconnect(this);
  }

  #takeReport(process: BoardProcess, message: Fields): void {
    try {
      process.take(message);
    } catch (error) {
      if (!(error instanceof ReportRefusedError)) throw error;
      this.close(CLOSE.refused, error.message);
    }
  }
}
