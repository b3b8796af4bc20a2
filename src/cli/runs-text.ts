import type { KeptRun } from "../contracts/journal.js";
import type { StoredReview } from "../contracts/review.js";
import type { Paint, Style } from "../plugins/observability/console/terminal-text.js";
import type { Doubt } from "./doubts.js";
import type { Store } from "./store.js";
import { printableLine, printableText } from "../util/printable.js";
import { counted } from "../util/text.js";
import { savedText } from "./kept-execution.js";
import { linesToAnswer } from "./review-text.js";
import { shellWord } from "./shell-word.js";

/** Replaces encrypted texts if the key is unknown. */
const ENCRYPTED = "encrypted: set AGENTENSEMBLE_STORE_KEY";

const STYLES: Readonly<Record<KeptRun["status"], Style>> = {
  completed: "green",
  running: "cyan",
  waiting: "yellow",
  interrupted: "yellow",
  failed: "red",
  cancelled: "yellow",
};

/** A run, and its open questions. */
export interface ShownRun {
  readonly run: KeptRun;
  readonly reviews: readonly StoredReview[];
  readonly inDoubt: readonly Doubt[];
}

/**
 * Returns whether the texts of the run are encrypted and the key is unknown. The hash of the inputs
 * is one of these texts.
 */
function areTextsSealed({ inputsHash }: KeptRun): boolean {
  return inputsHash === "";
}

function runState({ status, owner }: KeptRun, paint: Paint): string {
  const word = paint(STYLES[status], status);
  return status === "running" && owner === undefined ? `${word} (its process has died)` : word;
}

function statusReason({ status, waitsFor, owner, cancelReason, result }: KeptRun): string {
  if (cancelReason !== undefined)
    return status === "cancelled" ? cancelReason : `cancellation requested: ${cancelReason}`;
  if (status === "waiting") return waitsFor ?? "";
  if (status === "running") return owner ?? "";
  return result?.error?.message ?? "";
}

/** Formats a run in one line. */
export function runLine(run: KeptRun, paint: Paint): string {
  const parts = [
    paint("bold", printableLine(run.runId)),
    runState(run, paint),
    printableLine(run.ensemble, 60),
    counted(run.finishedTasks, "task"),
    printableLine(run.updatedAt, 40),
    printableLine(statusReason(run), 120),
  ];
  return parts.filter((part) => part !== "").join("  ");
}

/** Formats a run with all its data, and the possible actions. */
export function runText(shown: ShownRun, store: Store, paint: Paint): string {
  const { run } = shown;
  const { result } = run;
  const facts = runFacts(run).filter(([, text]) => text !== "");
  return [
    `${paint("bold", `run ${printableLine(run.runId)}`)} ${runState(run, paint)}`,
    ...facts.map(([name, text]) => `  ${name.padEnd(11)} ${printableLine(text, 400)}`),
    ...(result === undefined || result.raw === "" || areTextsSealed(run)
      ? []
      : ["", printableText(result.raw)]),
    ...nextSteps(shown, store),
  ].join("\n");
}

function runFacts(run: KeptRun): readonly (readonly [string, string])[] {
  const { result, tags, parentRunId = "" } = run;
  return [
    ["ensemble", run.ensemble],
    ["inputs", areTextsSealed(run) ? ENCRYPTED : JSON.stringify(run.inputs)],
    [
      "tags",
      Object.entries(tags)
        .map(([name, value]) => `${name}=${value}`)
        .join(", "),
    ],
    ["parent", parentRunId],
    ["started", run.startedAt],
    ["changed", run.updatedAt],
    ["executions", executionsText(run)],
    ["finished", counted(run.finishedTasks, "task")],
    ["process", run.owner ?? ""],
    ["waits for", run.waitsFor ?? ""],
    [run.status === "cancelled" ? "cancelled" : "cancelling", run.cancelReason ?? ""],
    ["used", result === undefined ? "" : usedText(result.metrics)],
    ["saved", result?.saved === undefined ? "" : savedText(result.saved)],
    ["error", result?.error === undefined ? "" : `${result.error.code}: ${result.error.message}`],
  ];
}

function executionsText({ executions, fruitlessExecutions }: KeptRun): string {
  if (fruitlessExecutions === 0) return String(executions);
  return `${executions} (before the last one ${fruitlessExecutions} in a row ended with their process and left no entry)`;
}

function usedText(metrics: NonNullable<KeptRun["result"]>["metrics"]): string {
  const { totalTokens, llmCallCount, toolCallCount, cost, currency = "" } = metrics;
  const tokens = totalTokens < 0 ? "an unknown number of tokens" : counted(totalTokens, "token");
  const money = cost === undefined ? "" : `, ${Number(cost.toPrecision(4))} ${currency}`;
  return `${tokens} in ${counted(llmCallCount, "model call")}, ${counted(toolCallCount, "tool call")}${money}`;
}

function nextSteps({ run, reviews, inDoubt }: ShownRun, store: Store): readonly string[] {
  const { runId, status, owner } = run;
  const id = shellWord(runId);
  const isOver = status === "completed" || owner !== undefined;
  return [
    ...(reviews.length === 0 ? [] : ["", "Waits for answers:"]),
    ...reviews.flatMap((review) => linesToAnswer(review, store)),
    ...(inDoubt.length === 0 ? [] : ["", "It is unknown whether these tool calls were executed:"]),
    ...inDoubt.flatMap(({ key, tool }) => [
      `  ${printableLine(tool, 80)} (${printableLine(key)})`,
      `    agentensemble runs settle ${id} ${shellWord(key)} --again${store.option}`,
    ]),
    ...(isOver
      ? []
      : ["", "To resume it:", `  agentensemble runs resume <file> ${id}${store.option}`]),
  ];
}
