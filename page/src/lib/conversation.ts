import type { LogEntry } from "../../../src/contracts/run-store.js";
import { fileLines } from "./file-lines.js";
import { noteOf, numberOf, textOf } from "./conversation-notes.js";
import type {
  Conversation,
  DelegationTurn,
  ModelTurn,
  PromptTurn,
  ReviewTurn,
  ToolTurn,
  Turn,
} from "./conversation-types.js";
import { promptSections } from "./prompt-sections.js";

/** Tools whose calls are drawn as their delegations. */
const DELEGATING = new Set(["delegate", "delegateTask"]);

interface Draft {
  turns: Turn[];
  /** Usage of calls whose answers follow, by their iteration. */
  usage: Map<number, LogEntry>;
  /** Indexes of open turns, by the key that closes them. */
  open: Map<string, number>;
  calls: number;
  reasoning: string;
  lastAnswer: string;
  output: Conversation["output"];
}

/** Builds the conversation of a task from its full entries, in their order. */
export function conversationOf(entries: readonly LogEntry[]): Conversation {
  const d: Draft = {
    turns: [],
    usage: new Map(),
    open: new Map(),
    calls: 0,
    reasoning: "",
    lastAnswer: "",
    output: undefined,
  };
  for (const entry of entries) {
    const handler = HANDLERS[entry.type];
    if (handler !== undefined) handler(d, entry);
    const note = noteOf(entry);
    if (note !== undefined) d.turns.push(note);
  }
  return {
    turns: withoutDelegatingTools(d.turns),
    output: d.output,
    isTrimmed: entries.some(({ trimmed }) => trimmed === true),
  };
}

const HANDLERS: { readonly [type: string]: ((d: Draft, e: LogEntry) => void) | undefined } = {
  task_input: taskInput,
  usage_recorded: usageRecorded,
  reasoning_received: (d, e) => {
    d.reasoning = textOf(e.reasoning);
  },
  llm_iteration_completed: answered,
  tool_started: toolStarted,
  tool_called: toolCalled,
  delegation_started: delegationStarted,
  delegation_completed: delegationEnded,
  delegation_failed: delegationEnded,
  review_requested: reviewRequested,
  review_resolved: reviewResolved,
  task_completed: (d, e) => {
    // `taskOutput` is the JSON of a TaskOutput.
    const { raw, parsed } = (e.taskOutput ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof raw === "string") d.output = { text: raw, value: parsed };
  },
};

/** Returns a text with the images and files of its entry, one line each. */
function withFiles(e: LogEntry, text: string): string {
  return [...(text === "" ? [] : [text]), ...fileLines(e.parts)].join("\n");
}

function taskInput(d: Draft, e: LogEntry): void {
  const text = withFiles(e, textOf(e.userPrompt));
  const turn: PromptTurn = {
    kind: "prompt",
    n: e.n,
    at: e.at,
    system: textOf(e.systemPrompt),
    sections: promptSections(text),
    tools: Array.isArray(e.toolNames) ? e.toolNames.map(textOf) : [],
    text,
  };
  d.turns.push(turn);
  d.lastAnswer = "";
}

function usageRecorded(d: Draft, e: LogEntry): void {
  const isAnswered = e.outcome !== "failed" && e.outcome !== "aborted";
  if (isAnswered && typeof e.iteration === "number") {
    d.usage.set(e.iteration, e); // its answer follows
    return;
  }
  const isOwn = e.purpose === "task" || e.purpose === "worker";
  if (isAnswered && isOwn) return;
  d.turns.push({ ...modelTurn(d, e, undefined), error: isAnswered ? undefined : errorOf(e) });
}

function errorOf(e: LogEntry): ModelTurn["error"] {
  const code = textOf(e.errorCode) || textOf(e.outcome);
  return { code, message: textOf(e.error) };
}

function answered(d: Draft, e: LogEntry): void {
  const iteration = numberOf(e.iteration);
  const usage = d.usage.get(iteration);
  d.usage.delete(iteration);
  const turn = modelTurn(d, usage, e);
  d.turns.push(turn);
  d.lastAnswer = turn.text;
  d.reasoning = "";
}

function modelTurn(d: Draft, usage: LogEntry | undefined, answer: LogEntry | undefined): ModelTurn {
  const { n = -1, at = "" } = answer ?? usage ?? {};
  const text = textOf(answer?.responseText);
  const requests = answer?.toolRequests;
  return {
    kind: "model",
    n,
    at,
    call: ++d.calls,
    text,
    reasoning: answer === undefined ? "" : d.reasoning,
    toolCalls: Array.isArray(requests) ? requests.length : 0,
    durationMs: numberOf(answer?.durationMs ?? usage?.latencyMs),
    error: undefined,
    isRepeated: text !== "" && text === d.lastAnswer,
    ...figuresOf(usage ?? { ...UNKNOWN_USAGE, ...answer }),
  };
}

const UNKNOWN_USAGE = { inputTokens: -1, outputTokens: -1, purpose: "task" } as const;

type Figures = Pick<
  ModelTurn,
  | "model"
  | "inputTokens"
  | "outputTokens"
  | "cachedTokens"
  | "cost"
  | "currency"
  | "purpose"
  | "isRecorded"
>;

function figuresOf(usage: Readonly<Record<string, unknown>>): Figures {
  const { provider, modelId, purpose, cost, currency, recorded } = usage;
  return {
    model: modelId === undefined ? "" : `${textOf(provider)}:${textOf(modelId)}`,
    inputTokens: numberOf(usage.inputTokens),
    outputTokens: numberOf(usage.outputTokens),
    cachedTokens: Math.max(0, numberOf(usage.cachedInputTokens)),
    cost: typeof cost === "number" ? cost : undefined,
    currency: currency === undefined ? undefined : textOf(currency),
    purpose: purpose === "task" ? "" : textOf(purpose),
    isRecorded: recorded === true,
  };
}

const toolKey = (e: LogEntry): string => `tool:${numberOf(e.iteration)}:${textOf(e.callId)}`;

function toolStarted(d: Draft, e: LogEntry): void {
  const turn: ToolTurn = {
    kind: "tool",
    n: e.n,
    at: e.at,
    callId: textOf(e.callId),
    name: textOf(e.toolName),
    title: e.title === undefined ? undefined : textOf(e.title),
    args: textOf(e.toolArguments),
    result: undefined,
    outcome: undefined,
    durationMs: undefined,
  };
  begin(d, toolKey(e), turn);
}

function toolCalled(d: Draft, e: LogEntry): void {
  if (!d.open.has(toolKey(e))) toolStarted(d, e);
  finish(d, toolKey(e), "tool", {
    result: withFiles(e, textOf(e.toolResult)),
    outcome: textOf(e.toolOutcome) || textOf(e.outcome),
    durationMs: numberOf(e.durationMs),
  });
}

const delegationKey = (e: LogEntry): string => `delegation:${textOf(e.delegationId)}`;

function delegationStarted(d: Draft, e: LogEntry): void {
  // `request` is the JSON of a DelegationRequest.
  const { mode } = (e.request ?? {}) as Readonly<Record<string, unknown>>;
  const turn: DelegationTurn = {
    kind: "delegation",
    isHandoff: mode === "handoff",
    n: e.n,
    at: e.at,
    role: textOf(e.workerRole),
    text: textOf(e.taskDescription),
    workerTaskId: e.workerTaskId === undefined ? undefined : textOf(e.workerTaskId),
    state: "running",
    result: "",
    durationMs: undefined,
  };
  begin(d, delegationKey(e), turn);
}

function delegationEnded(d: Draft, e: LogEntry): void {
  if (!d.open.has(delegationKey(e))) delegationStarted(d, e);
  // `response` is the JSON of a DelegationResponse.
  const { rawOutput } = (e.response ?? {}) as Readonly<Record<string, unknown>>;
  const isDone = e.type === "delegation_completed";
  finish(d, delegationKey(e), "delegation", {
    state: isDone ? "done" : "failed",
    result: isDone ? textOf(rawOutput) : textOf(e.reason),
    durationMs: numberOf(e.durationMs),
  });
}

function reviewRequested(d: Draft, e: LogEntry): void {
  const key = `review:${textOf(e.reviewId)}`;
  if (d.open.has(key)) return; // a resumed run repeats the question
  const turn: ReviewTurn = {
    kind: "review",
    n: e.n,
    at: e.at,
    reviewId: textOf(e.reviewId),
    question: textOf(e.prompt),
    toolName: e.toolName === undefined ? undefined : textOf(e.toolName),
    requiredRole: e.requiredRole === undefined ? undefined : textOf(e.requiredRole),
    deadline: e.deadline === undefined ? undefined : textOf(e.deadline),
    decision: undefined,
    by: undefined,
    comment: undefined,
    isTimedOut: false,
    durationMs: undefined,
  };
  begin(d, key, turn);
}

function reviewResolved(d: Draft, e: LogEntry): void {
  finish(d, `review:${textOf(e.reviewId)}`, "review", {
    decision: textOf(e.decision),
    by: e.by === undefined ? undefined : textOf(e.by),
    comment: e.comment === undefined ? undefined : textOf(e.comment),
    isTimedOut: e.timedOut === true,
    durationMs: numberOf(e.durationMs),
  });
}

function begin(d: Draft, key: string, turn: Turn): void {
  d.open.set(key, d.turns.push(turn) - 1);
}

/** Adds the data known at its end to a begun turn. */
function finish<K extends Turn["kind"]>(
  d: Draft,
  key: string,
  kind: K,
  end: Partial<Extract<Turn, { readonly kind: K }>>,
): void {
  const place = d.open.get(key);
  const turn = place === undefined ? undefined : d.turns[place];
  if (place === undefined || turn?.kind !== kind) return;
  d.turns[place] = { ...turn, ...end };
  d.open.delete(key);
}

/**
 * Omits the call of a delegating tool if its delegation follows it, because both describe the same
 * event.
 */
function withoutDelegatingTools(turns: readonly Turn[]): readonly Turn[] {
  let delegations = turns.filter(({ kind }) => kind === "delegation").length;
  return turns.filter((turn) => {
    if (turn.kind !== "tool" || !DELEGATING.has(turn.name) || delegations === 0) return true;
    delegations--;
    return false;
  });
}
