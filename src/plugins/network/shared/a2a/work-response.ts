import type { Artifact, Message, Task, TaskState, TaskStatus } from "@a2a-js/sdk";
import type { WorkReason, WorkResponse } from "../../../../contracts/network.js";
import type { ForeignUsage } from "../../../../contracts/usage.js";
import type { Fields } from "../../../../util/objects.js";
import { WORK_VERSION } from "../../../../contracts/network.js";
import { asCount, asFields, asList } from "../../../../util/objects.js";
import { partContents, extensionFields } from "./parts.js";
import { STATE } from "./protocol.js";

/** The parts of a task that are read, from a snapshot or from events. */
export interface SeenTask {
  readonly status: TaskStatus | undefined;
  readonly artifacts: readonly Artifact[];
  readonly metadata: unknown;
}

/** Returns the status of a task that has ended. Returns `undefined` for a task in progress. */
function endStatusOf(state: TaskState | undefined): WorkResponse["status"] | undefined {
  if (state === STATE.COMPLETED) return "COMPLETED";
  if (state === STATE.FAILED) return "FAILED";
  if (state === STATE.CANCELED) return "CANCELLED";
  if (state === STATE.REJECTED) return "REJECTED";
  return undefined;
}

/** Returns whether a task has ended. */
export function hasEnded({ status }: Pick<Task, "status">): boolean {
  return endStatusOf(status?.state) !== undefined;
}

/**
 * Returns the result in a task. Returns `undefined` while the task is in progress. Omits fields of
 * the extension with a wrong type. `elapsedMs` is the duration if the agent reports none. Never
 * throws.
 */
export function responseOfTask(
  requestId: string,
  { status, artifacts, metadata }: SeenTask,
  elapsedMs: number,
): WorkResponse | undefined {
  const ended = endStatusOf(status?.state);
  if (ended === undefined) return undefined;
  const fields = extensionFields(metadata) ?? {};
  const error = textOfWireMessage(status?.message);
  const { text, parsed } = outputOf(artifacts, status?.message);
  return {
    v: WORK_VERSION,
    requestId,
    status: ended,
    durationMs: asCount(fields["durationMs"]) ?? elapsedMs,
    ...(ended === "COMPLETED" ? { result: text, ...(parsed !== undefined && { parsed }) } : {}),
    ...(ended !== "COMPLETED" && { error: error === "" ? `The task is ${ended}` : error }),
    ...(ended !== "COMPLETED" && { reason: endReasonOf(fields["reason"], ended) }),
    ...reportedExtras(fields),
  };
}

/** Returns the result of an agent that answers with a message instead of a task. */
export function responseOfMessage(
  requestId: string,
  message: Message,
  elapsedMs: number,
): WorkResponse {
  const { texts, data } = partContents(message.parts);
  const [parsed] = data;
  return {
    v: WORK_VERSION,
    requestId,
    status: "COMPLETED",
    result: texts.length === 0 && parsed !== undefined ? JSON.stringify(parsed) : texts.join("\n"),
    ...(parsed !== undefined && { parsed }),
    durationMs: elapsedMs,
  };
}

function outputOf(
  artifacts: readonly Artifact[],
  message: Message | undefined,
): { readonly text: string; readonly parsed: unknown } {
  const outputs = artifacts.map(({ parts }) => partContents(parts));
  const [parsed] = outputs.flatMap(({ data }) => data);
  const texts = outputs.map((output) => output.texts.join("")).filter((text) => text !== "");
  const text = artifacts.length === 0 ? textOfWireMessage(message) : texts.join("\n");
  return { text: text === "" && parsed !== undefined ? JSON.stringify(parsed) : text, parsed };
}

/** Returns the text of a message. Returns an empty text without a message. */
export function textOfWireMessage(message: Message | undefined): string {
  return partContents(message?.parts).texts.join("\n");
}

function reportedExtras(fields: Fields): Partial<WorkResponse> {
  const { retryAfterMs, attempt, servedBy, truncated, usage } = fields;
  const known: ForeignUsage[] = asList(usage).flatMap((entry) => reportedUsage(asFields(entry)));
  return {
    ...(asCount(retryAfterMs) !== undefined && { retryAfterMs: asCount(retryAfterMs) }),
    ...(asCount(attempt) !== undefined && { attempt: asCount(attempt) }),
    ...(typeof servedBy === "string" && { servedBy }),
    ...(truncated === true && { truncated }),
    ...(known.length > 0 && { usage: known }),
  };
}

const COUNTS = ["inputTokens", "outputTokens", "cachedInputTokens", "reasoningTokens"] as const;

function reportedUsage(entry: Fields | undefined): readonly ForeignUsage[] {
  const { source, provider, modelId, calls, cost, currency } = entry ?? {};
  if (entry === undefined || typeof provider !== "string" || typeof modelId !== "string") return [];
  const counts = COUNTS.flatMap((name) => {
    const count = asCount(entry[name]);
    return count === undefined ? [] : [[name, count] as const];
  });
  return [
    {
      ...(typeof source === "string" && { source }),
      provider,
      modelId,
      ...Object.fromEntries(counts),
      ...(asCount(calls) !== undefined && { calls: asCount(calls) }),
      ...(asCount(cost) !== undefined && { cost: asCount(cost) }),
      ...(typeof currency === "string" && { currency }),
    },
  ];
}

const REASONS: ReadonlySet<unknown> = new Set<WorkReason>([
  ...(["AT_CAPACITY", "DRAINING", "UNKNOWN", "INVALID_INPUT", "EXPIRED", "TOO_LARGE"] as const),
  ...([
    "LOOP",
    "VERSION",
    "DENIED",
    "RUN_FAILED",
    "DEADLINE",
    "BUDGET",
    "QUOTA",
    "POISON",
  ] as const),
  "CANCELLED",
]);

function endReasonOf(reason: unknown, status: WorkResponse["status"]): WorkReason {
  if (isReason(reason)) return reason;
  if (status === "CANCELLED") return "CANCELLED";
  return status === "REJECTED" ? "DENIED" : "RUN_FAILED";
}

function isReason(value: unknown): value is WorkReason {
  return REASONS.has(value);
}
