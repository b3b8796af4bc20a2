import type { EnsembleEvent } from "../contracts/events.js";
import type { OutputTerminal } from "./terminal.js";
import { ProgressPrinter } from "../plugins/observability/console/progress-printer.js";
import { asFields, asText } from "../util/objects.js";
import { printableLine } from "../util/printable.js";

/**
 * Defaults for fields that a message may lack: texts are not sent, and other versions may send
 * fewer fields.
 */
const ABSENT = Object.freeze({
  v: 1,
  taskId: "",
  agentRole: "",
  taskDescription: "",
  taskIndex: 0,
  totalTasks: 0,
  attempt: 0,
  durationMs: 0,
  tokenCount: -1,
  toolCallCount: 0,
  toolName: "",
  toolResult: "",
  outcome: "SUCCESS",
  reason: "",
  cause: Object.freeze({}),
});

/** The printed messages. */
const PRINTED: ReadonlySet<unknown> = new Set([
  "task_started",
  "task_completed",
  "task_failed",
  "tool_called",
]);

/** Returns a function that prints the progress messages of a remote run in the form of `run`. */
export function submittedProgress(
  runId: string,
  terminal: Pick<OutputTerminal, "message" | "paintMessage">,
): (progress: unknown) => void {
  const asked = new Set<string>();
  const write = (text: string): void => void terminal.message(text.replace(/\n$/, ""));
  const printer = new ProgressPrinter(write, terminal.paintMessage, { errors: false });
  return (progress) => {
    const message = asFields(progress) ?? {};
    const { type } = message;
    if (type === "review_requested") {
      const reviewId = asText(message["reviewId"]);
      if (asked.has(reviewId)) return; // a question is repeated until it is answered
      asked.add(reviewId);
      return write(
        `wait  ${printableLine(asText(message["taskId"]), 40)}: a person is asked; see agentensemble reviews list`,
      );
    }
    if (!PRINTED.has(type)) return;
    const known = Object.entries(ABSENT).map(([name, absent]) => {
      const value = message[name];
      return [name, typeof value === typeof absent ? value : absent];
    });
    // The event has all printed fields.
    printer.handle({ ...Object.fromEntries(known), type, runId } as EnsembleEvent);
  };
}
