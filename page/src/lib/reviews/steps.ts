import type { LogEntry } from "../../../../src/contracts/run-store.js";

/** An event that preceded a review. */
export interface Step {
  readonly n: number;
  readonly kind: "task" | "model" | "tool" | "refused";
  readonly title: string;
  readonly detail: string;
  readonly durationMs?: number | undefined;
  readonly text: string;
}

/** Returns the ids of the tasks whose outputs a task received. */
export function contextOf(entries: readonly LogEntry[]): readonly string[] {
  const ids = entries.findLast(({ type }) => type === "task_started")?.contextTaskIds;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

/** Returns the output of a task that has ended. */
export function outputStep(taskId: string, entries: readonly LogEntry[]): Step | undefined {
  const done = entries.findLast(({ type }) => type === "task_completed");
  if (done === undefined) return undefined;
  const { n, agentRole, durationMs, taskOutput } = done;
  const raw =
    typeof taskOutput === "object" && taskOutput !== null && "raw" in taskOutput
      ? taskOutput.raw
      : undefined;
  return {
    n,
    kind: "task",
    title: taskId,
    detail: textOf(agentRole),
    durationMs: numberOf(durationMs),
    text: textOf(raw),
  };
}

/**
 * Returns the last `most` steps of the task before entry `before`: answers, tool calls and
 * refusals.
 */
export function stepsOf(
  entries: readonly LogEntry[],
  before: number,
  most: number,
): readonly Step[] {
  const steps = entries.flatMap((entry): readonly Step[] => {
    if (entry.n >= before) return [];
    const step = stepOf(entry);
    return step === undefined ? [] : [step];
  });
  return steps.slice(-most);
}

function stepOf(entry: LogEntry): Step | undefined {
  const { n, type } = entry;
  const durationMs = numberOf(entry.durationMs);
  switch (type) {
    case "llm_iteration_completed": {
      const text = textOf(entry.responseText);
      const detail = textOf(entry.agentRole);
      return text === ""
        ? undefined
        : { n, kind: "model", title: "Answer", detail, durationMs, text };
    }
    case "tool_called": {
      const [title, text] = [textOf(entry.toolName), textOf(entry.toolResult)];
      return { n, kind: "tool", title, detail: textOf(entry.toolArguments), durationMs, text };
    }
    case "guardrail_refused": {
      const [detail, text] = [textOf(entry.guardrailName), textOf(entry.message)];
      return { n, kind: "refused", title: "Guardrail refused", detail, text };
    }
    default:
      return undefined;
  }
}

/**
 * Returns the number of the entry that requests a review. Returns `undefined` if it is not among
 * the entries.
 */
export function askedAt(entries: readonly LogEntry[], reviewId: string): number | undefined {
  return entries.findLast(
    (entry) => entry.type === "review_requested" && entry.reviewId === reviewId,
  )?.n;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
