import type { EnsembleEvent } from "../contracts/events.js";
import type { Paint } from "../plugins/observability/console/terminal-text.js";
import { redactorOf } from "../contracts/redaction.js";
import { ProgressPrinter } from "../plugins/observability/console/progress-printer.js";
import { drawsOver, showsUnicode } from "../plugins/observability/console/console-options.js";
import { LiveProgress } from "../plugins/observability/console/live-progress.js";
import type { TerminalStream } from "../plugins/observability/console/live-region.js";

/** The command prints the error of the run, not the progress. */
const SILENT = { errors: false };

/** Shows only the warnings of a run. Ends with the events. */
export async function showWarnings(
  events: AsyncIterable<EnsembleEvent>,
  target: TerminalStream,
  paint: Paint,
): Promise<void> {
  const printer = new ProgressPrinter((text) => void target.write(text), paint);
  for await (const event of events) if (event.type === "run_warning") printer.handle(event);
}

/**
 * Writes the output. Writes nothing between the question and the answer of a review, because the
 * user types at the same terminal.
 */
class HeldTarget {
  readonly #held: string[] = [];
  #asked = 0;

  constructor(readonly target: TerminalStream) {}

  write(text: string): void {
    if (this.#asked > 0) this.#held.push(text);
    else this.target.write(text);
  }

  see({ type }: EnsembleEvent): void {
    if (type === "review_requested") this.#asked++;
    if (type !== "review_resolved" || --this.#asked > 0) return;
    for (const text of this.#held.splice(0)) this.target.write(text);
  }
}

/**
 * Shows the events of a run in place on a terminal, otherwise as lines. Ends with the events.
 * `holdsWhileAsked`: writes nothing while a review waits.
 */
export async function showProgress(
  events: AsyncIterable<EnsembleEvent>,
  target: TerminalStream,
  paint: Paint,
  holdsWhileAsked = false,
): Promise<void> {
  if (drawsOver(target)) return showLive(events, target, paint);
  const held = new HeldTarget(target);
  const printer = new ProgressPrinter((text) => held.write(text), paint, SILENT);
  for await (const event of events) {
    printer.handle(event);
    if (holdsWhileAsked) held.see(event);
  }
}

async function showLive(
  events: AsyncIterable<EnsembleEvent>,
  stream: TerminalStream,
  paint: Paint,
): Promise<void> {
  // Standard output of the program appears on the same terminal: the command redirects it to
  // standard error.
  const others = stream === process.stderr ? [process.stdout] : [];
  const view = new LiveProgress({
    ...{ stream, others, paint, unicode: showsUnicode() },
    printer: (write) => new ProgressPrinter(write, paint, { ...SILENT, detail: "faults" }),
  });
  try {
    for await (const event of events) view.handle(event, redactorOf(event));
  } finally {
    view.close();
  }
}
