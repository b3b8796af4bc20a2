import type { Principal } from "../../../contracts/http-route.js";
import type { RunLog } from "../feed/run-log.js";
import type { AuditLog } from "../audit.js";
import type { StartableEnsemble } from "../protocol/control-bodies.js";
import type { ConversationInfo } from "../protocol/thread-bodies.js";
import type { BoardProcessParts, ProcessLink } from "./board-process.js";
import { asText, type Fields } from "../../../util/objects.js";
import { PROTOCOL } from "../protocol/messages.js";
import { BoardProcess } from "./board-process.js";
import { isId, isProcessName } from "./report-checks.js";

const MAX_PROCESSES = 1_000;

/** A run, a review, an ensemble or a conversation of another process. */
export interface FoundProcess {
  readonly process: BoardProcess;
  /** The id or name in that process. */
  readonly id: string;
}

/** The processes that report their runs to a board. */
export class BoardProcesses {
  readonly #parts: BoardProcessParts & { readonly audit: AuditLog };
  readonly #byName = new Map<string, BoardProcess>();
  /** The tasks that each page watches, by run. */
  readonly #watches = new Map<RunLog, Set<readonly string[]>>();

  constructor(parts: BoardProcessParts & { readonly audit: AuditLog }) {
    this.#parts = parts;
    parts.feed.listen({
      onRemoved: (log) => {
        for (const process of this.#byName.values()) process.forget(log);
      },
    });
  }

  /** Returns the process of an id. Returns `undefined` for an id of this process. */
  of(wholeId: string): FoundProcess | undefined {
    const slash = wholeId.indexOf("/");
    const process = this.#byName.get(wholeId.slice(0, Math.max(0, slash)));
    return process && { process, id: wholeId.slice(slash + 1) };
  }

  /** The ensembles of the connected processes. */
  get ensembles(): readonly StartableEnsemble[] {
    return [...this.#byName.values()].flatMap(({ offers }) => offers.ensembles);
  }

  /** The conversations of the connected processes. */
  get conversations(): readonly ConversationInfo[] {
    return [...this.#byName.values()].flatMap(({ offers }) => offers.conversations);
  }

  /**
   * Adds a process that reports. Returns the process, or the reason of its refusal. The reason is
   * an unsupported version, an invalid name, or a name of another principal or another running
   * process.
   */
  join(message: Fields, principal: Principal, link: ProcessLink): BoardProcess | string {
    const name = asText(message["process"]);
    const instance = asText(message["instance"]);
    const refusal = this.#refusal(message, { name, instance, owner: principal.name });
    const { audit } = this.#parts;
    const subject = isProcessName(name) ? name : "a process";
    const entry = { user: principal.name, action: "report", subject } as const;
    if (refusal !== undefined) {
      audit.add({ ...entry, detail: `refused: ${refusal}` });
      return refusal;
    }
    let process = this.#byName.get(name);
    if (process?.instance !== instance) {
      process?.lose();
      process = new BoardProcess({ name, instance, owner: principal.name }, this.#parts);
      this.#byName.set(name, process);
      audit.add(entry);
    }
    process.connect(link);
    return process;
  }

  /**
   * Requests that the process of a run streams the text of these tasks. Returns a function that
   * ends the request.
   */
  watch(log: RunLog, tasks: readonly string[]): () => void {
    const all = this.#watches.get(log) ?? new Set();
    const own = [...tasks];
    this.#watches.set(log, all.add(own));
    const tell = (): void => {
      const wanted = new Set([...all].flat());
      this.of(log.runId)?.process.watch(log, [...wanted]);
    };
    tell();
    return () => {
      all.delete(own);
      if (all.size === 0) this.#watches.delete(log);
      tell();
    };
  }

  close(): void {
    for (const process of this.#byName.values()) process.lose();
    this.#byName.clear();
  }

  #refusal(
    { protocol }: Fields,
    o: { readonly name: string; readonly instance: string; readonly owner: string },
  ): string | undefined {
    if (protocol !== PROTOCOL) return `The board uses version ${PROTOCOL} of the protocol`;
    if (!isProcessName(o.name) || !isId(o.instance))
      return "A process needs a name of 1 to 64 letters, digits, -, _ and . and an instance";
    const known = this.#byName.get(o.name);
    if (known !== undefined && known.owner !== o.owner)
      return "The name of the process belongs to another principal";
    if (known?.isConnected === true && known.instance !== o.instance)
      return "Another process of this name is connected";
    if (known === undefined && this.#byName.size >= MAX_PROCESSES) this.#forgetLost();
    return this.#byName.size >= MAX_PROCESSES && known === undefined
      ? "The board has too many processes"
      : undefined;
  }

  #forgetLost(): void {
    for (const [name, process] of this.#byName)
      if (process.isForgettable) this.#byName.delete(name);
  }
}
