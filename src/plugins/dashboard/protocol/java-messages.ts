import type { LogEntry } from "../../../contracts/run-store.js";

/** A message in the format of the viewer of the Java version. */
export type JavaMessage = Readonly<Record<string, unknown>> & { readonly type: string };

/** The fields of each message except `type`, with their names in entries. */
const MESSAGES: Readonly<Record<string, string>> = {
  ensemble_started: "ensembleId startedAt totalTasks workflow",
  ensemble_completed: "ensembleId completedAt durationMs exitReason totalTokens totalToolCalls",
  task_started: "taskIndex totalTasks taskDescription agentRole startedAt",
  task_input:
    "taskIndex taskDescription expectedOutput agentRole agentGoal agentBackground toolNames assembledContext",
  task_completed:
    "taskIndex totalTasks taskDescription agentRole startedAt completedAt durationMs tokenCount toolCallCount",
  task_failed: "taskIndex taskDescription agentRole failedAt reason",
  tool_called:
    "agentRole taskIndex toolName durationMs outcome toolArguments toolResult structuredResult",
  delegation_started: "delegationId delegatingAgentRole workerRole taskDescription",
  delegation_completed: "delegationId delegatingAgentRole workerRole taskDescription durationMs",
  delegation_failed: "delegationId delegatingAgentRole workerRole taskDescription reason",
  llm_iteration_started: "agentRole taskDescription iterationIndex totalMessageCount",
  llm_iteration_completed:
    "agentRole taskDescription iterationIndex responseType responseText toolRequests inputTokens outputTokens latencyMs",
  file_changed: "agentRole filePath changeType linesAdded linesRemoved timestamp",
  review_requested:
    "reviewId taskDescription taskOutput timing prompt timeoutMs onTimeout requiredRole",
};
const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(MESSAGES).map(([type, names]) => [type, names.split(" ")]),
);

/** Messages that belong to the delegation, not to the task that it creates. */
const OF_ANY_TASK = /^(?:delegation_|file_|review_)/;
/** Messages that late clients do not receive with the other messages. */
const NOT_KEPT = /^(?:llm_iteration_|review_)/;
const MAX_CONTEXT = 8_000;
const MAX_MESSAGES = 20;

/**
 * Returns the message for a full entry of a run. Returns `undefined` for an entry without a message
 * in the viewer. Delegated tasks have no message, because the viewer draws them from the
 * delegations. Each answer to a review is sent as a time-out, because that closes the dialog of the
 * viewer. This includes answers of other clients.
 */
export function javaMessage(entry: LogEntry): JavaMessage | undefined {
  const { type } = entry;
  if (type === "review_resolved")
    return {
      type: "review_timed_out",
      reviewId: entry["reviewId"],
      action: entry["decision"] === "EDIT" ? "CONTINUE" : entry["decision"],
    };
  const names = FIELDS.get(type);
  if (names === undefined) return undefined;
  if (entry["parentTaskId"] !== undefined && !OF_ANY_TASK.test(type)) return undefined;
  const kept = names.flatMap((name) => {
    const value = entry[name];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return { type, ...Object.fromEntries(kept), ...moreOf(entry) };
}

function moreOf(entry: LogEntry): object {
  switch (entry.type) {
    case "task_input":
      return { ...cutContext(entry["assembledContext"]), sentAt: entry.at };
    case "llm_iteration_started":
      return { messages: lastMessages(entry["messages"]) };
    default:
      return {};
  }
}

function cutContext(context: unknown): object {
  return typeof context === "string" && context.length > MAX_CONTEXT
    ? { assembledContext: `${context.slice(0, MAX_CONTEXT)}... [truncated]` }
    : {};
}

function lastMessages(messages: unknown): readonly object[] {
  const last: readonly unknown[] = Array.isArray(messages) ? messages.slice(-MAX_MESSAGES) : [];
  return last.map((message) => {
    // The message was created by the framework.
    const { role, content, toolCalls, toolName } = message as Partial<Record<string, unknown>>;
    return {
      role,
      content: typeof content === "string" ? content : textOfParts(content),
      ...(Array.isArray(toolCalls) && {
        toolCalls: toolCalls.map(
          (call: { readonly name?: unknown; readonly arguments?: unknown }) => ({
            name: call.name,
            arguments: call.arguments,
          }),
        ),
      }),
      ...(toolName !== undefined && { toolName }),
    };
  });
}

/** Returns the texts of a message with several parts. Images and files are named by their kind. */
function textOfParts(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .map((part: { readonly type?: unknown; readonly text?: unknown }) =>
      typeof part.text === "string" ? part.text : `[${String(part.type)}]`,
    )
    .join("\n");
}

/**
 * Returns a piece of a streamed answer. `task` has the fields of the other messages of the task.
 */
export function javaToken(
  piece: LogEntry,
  task: { readonly agentRole: string; readonly taskDescription: string },
): JavaMessage {
  const { agentRole, taskDescription } = task;
  return {
    type: "token",
    token: piece["token"],
    agentRole,
    taskDescription,
    sentAt: piece["sentAt"] ?? piece.at,
  };
}

/**
 * Returns the first message to a viewer, with the messages of the newest run so far. Waiting
 * reviews follow it, each as `javaMessage` returns it. If `entries` is `undefined`, no run has
 * begun.
 */
export function javaHello(
  entries: readonly LogEntry[] | undefined,
  iterations: JavaIterations,
): JavaMessage {
  const messages = (entries ?? []).flatMap((entry) => javaMessage(entry) ?? []);
  const kept = messages.filter(({ type }) => !NOT_KEPT.test(type) && type !== "review_timed_out");
  const first = messages.find(({ type }) => type === "ensemble_started");
  return {
    type: "hello",
    ...(first !== undefined && {
      ensembleId: first["ensembleId"],
      startedAt: first["startedAt"],
      snapshotTrace: kept,
    }),
    ...(iterations.recent.length > 0 && { recentIterations: iterations.recent }),
  };
}

interface Iteration {
  readonly started: JavaMessage;
  completed?: JavaMessage | undefined;
}

/** The last five model calls of each task of a run, for late clients. */
export class JavaIterations {
  readonly #byTask = new Map<string, Iteration[]>();

  get recent(): readonly Readonly<Iteration>[] {
    return [...this.#byTask.values()].flat();
  }

  /** Records a message that was sent. A new run clears the record. */
  add(message: JavaMessage): void {
    if (message.type === "ensemble_started") this.#byTask.clear();
    const key = JSON.stringify([message["agentRole"], message["taskDescription"]]);
    const calls = this.#byTask.get(key) ?? [];
    if (message.type === "llm_iteration_started") {
      calls.push({ started: message });
      this.#byTask.set(key, calls.slice(-5));
    } else if (message.type === "llm_iteration_completed") {
      const call = calls.findLast(
        ({ started, completed }) =>
          completed === undefined && started["iterationIndex"] === message["iterationIndex"],
      );
      if (call !== undefined) call.completed = message;
    }
  }
}
