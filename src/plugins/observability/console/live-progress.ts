import type { EnsembleEvent, Ev, EventType } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { ProgressPrinter } from "./progress-printer.js";
import type { Paint, Style } from "./terminal-text.js";
import type { ScreenLine, TerminalStream } from "./live-region.js";
import { printableLine } from "../../../util/printable.js";
import { counted } from "../../../util/text.js";
import { columnCount, fitColumns, padColumns } from "./column-text.js";
import { LiveRegion, plainLine, screenSize } from "./live-region.js";
import { isStopped, RunSpending } from "./run-progress.js";
import { readableDuration, readableRole } from "./terminal-text.js";

/** The events that the view uses in addition to the printed ones. */
export const FOLLOWED: readonly EventType[] = [
  "tool_started",
  "review_requested",
  "review_resolved",
];

const FRAME_MS = 100;
const NAME_COLUMNS = 36;

type LineState = "running" | "done" | "failed" | "stopped";

/** The symbols of the states. `running` has the frames of an animation. */
interface Signs {
  readonly running: readonly string[];
  readonly ended: Readonly<Record<Exclude<LineState, "running">, string>>;
  readonly cut: string;
}

const UNICODE: Signs = {
  running: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
  ended: { done: "✔", failed: "✖", stopped: "■" },
  cut: "…",
};
const ASCII: Signs = {
  running: ["|", "/", "-", "\\"],
  ended: { done: "+", failed: "x", stopped: "=" },
  cut: ".",
};
const STYLES: Readonly<Record<LineState, Style>> = {
  running: "cyan",
  done: "green",
  failed: "red",
  stopped: "yellow",
};

interface TaskLine {
  readonly name: string;
  readonly role: string;
  readonly indent: string;
  state: LineState;
  startedMs: number;
  durationMs: number;
  tokens: number;
  activity: string;
}

/** The state of one run in the view. */
interface RunLines {
  readonly runId: string;
  readonly startedMs: number;
  readonly total: number;
  readonly tasks: Map<string, TaskLine>;
  readonly spent: RunSpending;
}

/** Options of a view. */
export interface LiveOptions {
  readonly stream: TerminalStream;
  /** Other streams to the same terminal. */
  readonly others?: readonly TerminalStream[] | undefined;
  readonly paint: Paint;
  /** Whether the terminal shows characters beyond ASCII. */
  readonly unicode: boolean;
  /** Prints permanent lines: warnings, failures, the end of a run. */
  readonly printer: (write: (text: string) => void) => ProgressPrinter;
}

/**
 * Shows the tasks of runs on a terminal. Each task has one line that changes in place. A line above
 * them shows the number of tasks, the time, the tokens and the cost so far. The lines are removed
 * when the run ends. Nothing is drawn while a question to a person is open.
 */
export class LiveProgress {
  readonly #options: LiveOptions;
  readonly #signs: Signs;
  readonly #region: LiveRegion;
  readonly #printer: ProgressPrinter;
  readonly #runs = new Map<string, RunLines>();
  readonly #held: string[] = [];
  #asked = 0;
  #frame = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#signs = options.unicode ? UNICODE : ASCII;
    this.#region = new LiveRegion(options.stream, options.others);
    this.#printer = options.printer((text) => this.#print(text));
  }

  /** Updates the view with an event. */
  handle(e: EnsembleEvent, redactor?: Redactor): void {
    this.#follow(e, (text) => redactor?.redactText(text) ?? text);
    const hasEnded = e.type === "ensemble_completed" && this.#runs.delete(e.runId);
    if (hasEnded) this.#draw(); // without the run, before its end is printed
    this.#printer.handle(e, redactor);
    if (hasEnded && this.#runs.size === 0) this.close();
  }

  /** Removes the lines. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#region.close();
    for (const text of this.#held.splice(0)) this.#options.stream.write(text);
  }

  #follow(e: EnsembleEvent, clean: (text: string) => string): void {
    switch (e.type) {
      case "ensemble_started":
        return this.#begin(e);
      case "task_started":
        return this.#taskStarted(e, clean);
      case "task_completed":
        return this.#taskEnded(e, "done");
      case "task_failed":
        return this.#taskEnded(e, isStopped(e) ? "stopped" : "failed");
      case "usage_recorded":
        return this.#used(e);
      case "tool_started":
        return this.#does(e, printableLine(clean(e.toolName), 40));
      case "tool_called":
        return this.#does(e, "");
      case "review_requested":
        return this.#hold(1);
      case "review_resolved":
        return this.#hold(-1);
      default:
    }
  }

  #begin(e: Ev<"ensemble_started">): void {
    const startedMs = performance.now();
    const spent = new RunSpending();
    const { runId, totalTasks: total } = e;
    this.#runs.set(runId, { runId, startedMs, total, tasks: new Map(), spent });
    if (this.#timer !== undefined) return;
    this.#region.open();
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    this.#timer.unref();
  }

  #taskStarted(e: Ev<"task_started">, clean: (text: string) => string): void {
    const tasks = this.#runs.get(e.runId)?.tasks;
    const before = tasks?.get(e.taskId);
    tasks?.set(e.taskId, {
      name: printableLine(clean(e.taskId), NAME_COLUMNS),
      role: readableRole(clean(e.agentRole)),
      indent: e.parentTaskId === undefined ? "" : "  ",
      state: "running",
      startedMs: performance.now() - (before?.durationMs ?? 0),
      durationMs: 0,
      tokens: before?.tokens ?? 0,
      activity: "",
    });
    this.#drawSoon();
  }

  #taskEnded({ runId, taskId }: Ev<"task_completed" | "task_failed">, state: LineState): void {
    const task = this.#runs.get(runId)?.tasks.get(taskId);
    if (task === undefined) return;
    task.durationMs = performance.now() - task.startedMs;
    task.activity = "";
    task.state = state;
    this.#drawSoon();
  }

  #used(e: Ev<"usage_recorded">): void {
    const run = this.#runs.get(e.runId);
    run?.spent.add(e);
    const task = run?.tasks.get(e.taskId);
    if (task !== undefined) task.tokens += Math.max(0, e.inputTokens) + Math.max(0, e.outputTokens);
  }

  #does({ runId, taskId }: Ev<"tool_started" | "tool_called">, activity: string): void {
    const task = this.#runs.get(runId)?.tasks.get(taskId);
    if (task !== undefined) task.activity = activity;
  }

  /**
   * Stops drawing while a person answers at the same terminal. No output may appear between
   * question and answer.
   */
  #hold(change: 1 | -1): void {
    this.#asked = Math.max(0, this.#asked + change);
    if (this.#asked > 0) return this.#region.draw([]);
    this.#region.settle();
    for (const text of this.#held.splice(0)) this.#region.print(text);
    this.#draw();
  }

  #print(text: string): void {
    if (this.#asked > 0) this.#held.push(text);
    else this.#region.print(text);
  }

  /** Draws at most once per frame, independent of the number of changes. */
  #drawSoon(): void {
    if (performance.now() - this.#drawnMs >= FRAME_MS) this.#draw();
  }

  #draw(): void {
    if (this.#asked > 0 || this.#timer === undefined) return;
    this.#drawnMs = performance.now();
    this.#frame++;
    const { columns, rows } = screenSize(this.#options.stream);
    const runs = [...this.#runs.values()];
    const room = Math.max(1, Math.floor((rows - 1) / Math.max(1, runs.length)) - 1);
    const lines = runs.slice(0, rows - 1).flatMap((run) => this.#linesOf(run, columns - 1, room));
    this.#region.draw(lines.slice(0, rows - 1));
  }

  #linesOf(run: RunLines, columns: number, room: number): readonly ScreenLine[] {
    const tasks = [...run.tasks.values()];
    const shown = chosenTasks(tasks, room);
    const left = tasks.length - shown.length;
    const names = Math.min(
      NAME_COLUMNS,
      Math.max(0, ...shown.map(({ indent, name }) => columnCount(`${indent}${name}`))),
    );
    return [
      this.#head(run, columns),
      ...shown.map((task) => this.#taskLine(task, names, columns)),
      ...(left > 0 && room > 1 ? [this.#line("dim", `  and ${left} more`, columns)] : []),
    ];
  }

  #head(run: RunLines, columns: number): ScreenLine {
    const done = [...run.tasks.values()].filter(({ state }) => state === "done").length;
    const total = Math.max(run.total, run.tasks.size);
    const { tokens } = run.spent;
    const used = `${readableDuration(performance.now() - run.startedMs)}, ${tokens} tokens${run.spent.money()}`;
    const label = this.#runs.size > 1 ? `Run ${printableLine(run.runId, 8)}: ` : "";
    return this.#line("bold", `${label}${done}/${counted(total, "task")}, ${used}`, columns);
  }

  #taskLine(task: TaskLine, names: number, columns: number): ScreenLine {
    const { running, ended } = this.#signs;
    const { state, tokens, activity } = task;
    const sign = state === "running" ? (running[this.#frame % running.length] ?? "") : ended[state];
    const ms = state === "running" ? performance.now() - task.startedMs : task.durationMs;
    const details = [
      task.role,
      readableDuration(ms),
      tokens > 0 ? `${tokens} tokens` : [],
      activity === "" ? [] : activity,
    ].flat();
    const rest = ` ${padColumns(`${task.indent}${task.name}`, names)}  ${details.join(", ")}`;
    const fitting = fitColumns(rest, columns - 1, this.#signs.cut);
    return {
      text: `${this.#options.paint(STYLES[state], sign)}${fitting}`,
      columns: 1 + columnCount(fitting),
    };
  }

  #line(style: Style, text: string, columns: number): ScreenLine {
    const fitting = plainLine(fitColumns(text, columns, this.#signs.cut));
    return { ...fitting, text: this.#options.paint(style, fitting.text) };
  }
}

/**
 * Selects the tasks that fit into `room` lines: running tasks, and the latest others. One line is
 * reserved for the number of omitted tasks.
 */
function chosenTasks(tasks: readonly TaskLine[], room: number): readonly TaskLine[] {
  if (tasks.length <= room) return tasks;
  const places = Math.max(1, room - 1);
  const running = tasks.filter(({ state }) => state === "running").slice(-places);
  const others = tasks.filter((task) => !running.includes(task));
  const kept = new Set([...running, ...others.slice(others.length - (places - running.length))]);
  return tasks.filter((task) => kept.has(task));
}
