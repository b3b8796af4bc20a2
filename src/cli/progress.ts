import type { EnsembleEvent } from "../contracts/events.js";
import type { Paint } from "../plugins/observability/console/terminal-text.js";
import { ProgressPrinter } from "../plugins/observability/console/progress-printer.js";
import { readableCount } from "../plugins/observability/console/terminal-text.js";
import { printableLine } from "../util/printable.js";
import { counted } from "../util/text.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;
const CLEAR_LINE = "\r\u001b[2K";

/** Where progress goes. */
export interface ProgressTarget {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What a run is doing at the moment, as one line that is written over and over; only on a terminal. */
class StatusLine {
  readonly #running = new Set<string>();
  #done = 0;
  #total = 0;
  #tokens = 0;
  #frame = 0;

  take(e: EnsembleEvent): void {
    if (e.type === "ensemble_started") this.#total = e.totalTasks;
    if (e.type === "task_started") this.#running.add(e.taskId);
    if (e.type === "task_completed" || e.type === "task_failed") this.#running.delete(e.taskId);
    if (e.type === "task_completed") this.#done++;
    if (e.type === "llm_iteration_completed")
      this.#tokens += Math.max(0, e.inputTokens) + Math.max(0, e.outputTokens);
  }

  text(columns: number): string {
    if (this.#running.size === 0) return "";
    const names = printableLine([...this.#running].join(", "), 60);
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? "";
    return `${frame} ${this.#done}/${counted(this.#total, "task")}, ${readableCount(this.#tokens)} tokens: ${names}`.slice(
      0,
      Math.max(1, columns - 1),
    );
  }
}

/** Shows the warnings of a run, and nothing else of it. Ends when the events do. */
export async function showWarnings(
  events: AsyncIterable<EnsembleEvent>,
  target: ProgressTarget,
  paint: Paint,
): Promise<void> {
  const printer = new ProgressPrinter((text) => void target.write(text), paint);
  for await (const event of events) if (event.type === "run_warning") printer.handle(event);
}

/** Writes the output, but nothing between the question and the answer of a review, since the person types at the same terminal. */
class HeldTarget {
  readonly #held: string[] = [];
  #asked = 0;

  constructor(readonly target: ProgressTarget) {}

  get isHeld(): boolean {
    return this.#asked > 0;
  }

  write(text: string): void {
    if (this.isHeld) this.#held.push(text);
    else this.target.write(text);
  }

  see({ type }: EnsembleEvent): void {
    if (type === "review_requested") this.#asked++;
    if (type !== "review_resolved" || --this.#asked > 0) return;
    for (const text of this.#held.splice(0)) this.target.write(text);
  }
}

/** Shows the events of a run as lines and, on a terminal, a status line below them, which is removed at the end. Ends with the events. With `holdsWhileAsked` nothing is written while a review waits. */
export async function showProgress(
  events: AsyncIterable<EnsembleEvent>,
  target: ProgressTarget,
  paint: Paint,
  holdsWhileAsked = false,
): Promise<void> {
  const live = target.isTTY === true;
  const held = new HeldTarget(target);
  const status = new StatusLine();
  const printer = new ProgressPrinter(
    (text) => held.write(live ? `${CLEAR_LINE}${text}` : text),
    paint,
    false, // the command prints the run's error itself
  );
  const columns = (): number =>
    target.columns === undefined || target.columns === 0 ? 80 : target.columns; // 0: a terminal that does not say
  const redraw = (): void => {
    if (!held.isHeld) target.write(`${CLEAR_LINE}${paint("dim", status.text(columns()))}`);
  };
  const timer = live ? setInterval(redraw, FRAME_MS) : undefined;
  try {
    for await (const event of events) {
      status.take(event);
      printer.handle(event);
      if (holdsWhileAsked) held.see(event);
    }
  } finally {
    clearInterval(timer);
    if (live) target.write(CLEAR_LINE);
  }
}
