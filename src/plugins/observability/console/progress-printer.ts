import type { EnsembleEvent, Ev, EventType } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { Paint } from "./terminal-text.js";
import { redactorOf } from "../../../contracts/redaction.js";
import { createRedactor } from "../../../util/redaction/redactor.js";
import { redactEvent } from "../../shared/redact-event.js";
import { isStopped, RunProgress } from "./run-progress.js";
import { readableCount, readableDuration, readableRole } from "./terminal-text.js";
import { counted } from "../../../util/text.js";
import { printableLine } from "../../../util/printable.js";

/** The events that are printed. */
export const SHOWN: readonly EventType[] = [
  "ensemble_started",
  "ensemble_completed",
  "run_failed",
  "run_warning",
  "task_started",
  "task_completed",
  "task_failed",
  "tool_called",
  "retry_scheduled",
  "usage_recorded",
];

/** Options of a printer. */
export interface PrinterOptions {
  /** Whether errors of runs are printed. Default true. */
  readonly errors?: boolean | undefined;
  /**
   * `ends` omits the starts and tool calls of tasks. `faults` keeps only failures, warnings and the
   * ends of runs. Default: every event of `SHOWN`.
   */
  readonly detail?: "ends" | "faults" | undefined;
  /** Whether a run ends with one line instead of a table. Default false. */
  readonly brief?: boolean | undefined;
}

/**
 * Prints the events of runs as lines. Each line is one write, so lines of concurrent runs are not
 * mixed.
 */
export class ProgressPrinter {
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  /** For events whose run is unknown. */
  #redactor: Redactor | undefined;
  readonly #runs = new Map<string, RunProgress>();
  readonly #errors: boolean;
  readonly #detail: PrinterOptions["detail"];
  readonly #brief: boolean;
  /**
   * Failures by run whose reasons are not printed yet, because the error of the run may contain
   * them.
   */
  readonly #unexplained = new Map<string, Ev<"task_failed">[]>();

  constructor(
    write: (text: string) => void,
    paint: Paint,
    { errors = true, detail, brief = false }: PrinterOptions = {},
  ) {
    this.#write = write;
    this.#paint = paint;
    this.#errors = errors;
    this.#detail = detail;
    this.#brief = brief;
  }

  /**
   * Prints an event. Ignores other types. Removes secrets before texts are cut, because a part of a
   * secret can't be recognised.
   */
  handle(e: EnsembleEvent, ofRun: Redactor | undefined = redactorOf(e)): void {
    if (!SHOWN.includes(e.type)) return;
    const redactor = ofRun ?? (this.#redactor ??= createRedactor());
    this.#show(redactEvent(e, redactor));
  }

  #show(e: EnsembleEvent): void {
    if (e.type === "usage_recorded") return this.#runs.get(e.runId)?.spent.add(e);
    if (e.type !== "run_failed" && e.type !== "task_failed") this.#explain(e.runId, "");
    switch (e.type) {
      case "ensemble_started":
        return this.#runStarted(e);
      case "ensemble_completed":
        return this.#runCompleted(e);
      case "run_failed":
        return this.#runFailed(e);
      case "run_warning":
        return this.#line(e, this.#paint("yellow", `warning: ${printableLine(e.message, 300)}`));
      case "task_started":
        return this.#taskStarted(e);
      case "task_completed":
        return this.#taskCompleted(e);
      case "task_failed":
        return this.#taskFailed(e);
      case "tool_called":
        return this.#toolCalled(e);
      case "retry_scheduled":
        return this.#retry(e);
      default:
    }
  }

  #runStarted(e: Ev<"ensemble_started">): void {
    this.#runs.set(e.runId, new RunProgress());
    if (this.#brief || this.#detail === "faults") return;
    this.#line(
      e,
      this.#paint(
        "bold",
        `Run ${printableLine(e.runId, 80)} started: ${printableLine(e.workflow, 80)}, ${counted(e.totalTasks, "task")}`,
      ),
    );
  }

  #runCompleted(e: Ev<"ensemble_completed">): void {
    const style =
      e.exitReason === "COMPLETED" ? "green" : e.exitReason === "ERROR" ? "red" : "yellow";
    const run = this.#runs.get(e.runId);
    if (this.#brief) {
      this.#line(e, this.#paint(style, run?.total(e) ?? e.exitReason));
      this.#runs.delete(e.runId);
      return;
    }
    const head = this.#paint(
      style,
      `Run ${printableLine(e.runId, 80)} ${e.exitReason} after ${readableDuration(e.durationMs)}`,
    );
    const table = run?.summary(e) ?? [];
    this.#runs.delete(e.runId);
    this.#write(["", head, ...table, ""].map((line) => `${line}\n`).join(""));
  }

  #taskStarted(e: Ev<"task_started">): void {
    this.#runs.get(e.runId)?.started(e);
    if (this.#detail !== undefined) return;
    const place = e.taskIndex > 0 ? `[${e.taskIndex}/${e.totalTasks}] ` : "";
    this.#line(
      e,
      withText(
        `${this.#paint("cyan", "start")} ${place}${this.#name(e)}`,
        printableLine(e.taskDescription, 80),
      ),
    );
  }

  #taskCompleted(e: Ev<"task_completed">): void {
    this.#runs.get(e.runId)?.completed(e);
    if (this.#detail === "faults") return;
    const used = `${readableDuration(e.durationMs)}, ${readableCount(e.tokenCount)} tokens, ${counted(e.toolCallCount, "tool call")}`;
    this.#line(e, `${this.#paint("green", "done")}  ${this.#name(e)}: ${used}`);
  }

  #taskFailed(e: Ev<"task_failed">): void {
    this.#runs.get(e.runId)?.failed(e);
    const word = isStopped(e) ? this.#paint("yellow", "stop") : this.#paint("red", "fail");
    const head = `${word}  ${this.#name(e)} after ${readableDuration(e.durationMs)}`;
    this.#line(e, this.#errors ? `${head}: ${printableLine(e.reason, 300)}` : head);
    if (this.#errors || isStopped(e)) return;
    const failures = this.#unexplained.get(e.runId);
    if (failures === undefined) this.#unexplained.set(e.runId, [e]);
    else failures.push(e);
  }

  #runFailed(e: Ev<"run_failed">): void {
    this.#explain(e.runId, e.message);
    if (!this.#errors) return;
    const text = printableLine(`${e.code} ${e.message}`, 320);
    this.#line(e, this.#paint("red", `Run failed: ${text}`));
  }

  /**
   * Prints the reasons of failures that were not printed and are not in `message`. Such a run
   * continued, or failed for another reason.
   */
  #explain(runId: string, message: string): void {
    const failures = this.#unexplained.get(runId) ?? [];
    this.#unexplained.delete(runId);
    for (const e of failures)
      if (!message.includes(e.reason))
        this.#line(e, `      ${this.#name(e)} failed: ${printableLine(e.reason, 300)}`);
  }

  #toolCalled(e: Ev<"tool_called">): void {
    this.#runs.get(e.runId)?.toolCalled(e);
    if (this.#detail !== undefined) return;
    const outcome =
      e.outcome === "SUCCESS"
        ? this.#paint("dim", "ok")
        : this.#paint("red", withText("failed", printableLine(e.toolResult, 80)));
    this.#line(
      e,
      `  ${this.#paint("dim", "tool")} ${this.#name(e)} ${printableLine(e.toolName, 80)} ${readableDuration(e.durationMs)} ${outcome}`,
    );
  }

  #retry(e: Ev<"retry_scheduled">): void {
    if (this.#detail === "faults") return;
    const text = `attempt ${e.attempt} in ${readableDuration(e.delayMs)}: ${printableLine(e.reason, 200)}`;
    this.#line(e, `  ${this.#paint("yellow", "retry")} ${this.#name(e)} ${text}`);
  }

  #name(e: { readonly taskId: string; readonly agentRole: string }): string {
    const role = readableRole(e.agentRole);
    // "(code)" already has parentheses
    return `${printableLine(e.taskId, 40)} ${role.startsWith("(") ? role : `(${role})`}`;
  }

  /** Prints a line. The lines of concurrent runs get a label. */
  #line(e: EnsembleEvent, text: string): void {
    const label =
      this.#runs.size > 1 || (this.#runs.size === 1 && !this.#runs.has(e.runId))
        ? `${this.#paint("dim", `[${printableLine(e.runId, 80)}]`)} `
        : "";
    const indent = "parentTaskId" in e && e.parentTaskId !== undefined ? "  " : "";
    this.#write(`${label}${indent}${text}\n`);
  }
}

/** Appends a text if there is one. Events of other processes may have no texts. */
function withText(head: string, text: string): string {
  return text === "" ? head : `${head}: ${text}`;
}
