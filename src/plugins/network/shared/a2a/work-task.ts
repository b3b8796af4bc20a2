import type { Artifact, Message, StreamResponse, Task, TaskState } from "@a2a-js/sdk";
import type { QueueState, WorkResponse } from "../../../../contracts/network.js";
import type { Fields } from "../../../../util/objects.js";
import type { AskedReview } from "./review-message.js";
import { dataPart, messageWith, textPart } from "./parts.js";
import { ROLE, STATE, WORK_EXTENSION } from "./protocol.js";
import { reviewParts } from "./review-message.js";

/**
 * Maximum number of characters of text in one event of a stream. Clients limit the size of an event
 * to 4 MiB.
 */
const CHUNK = 512 * 1024;
/** Maximum length of the JSON of a structured output in an event of a stream. */
const MOST_PARSED = 1024 * 1024;

/** A task as identified by its caller. `at` is an ISO instant. */
export interface TaskSight {
  readonly id: string;
  readonly contextId: string;
  readonly at: string;
}

const END_STATES = Object.freeze({
  COMPLETED: STATE.COMPLETED,
  FAILED: STATE.FAILED,
  CANCELLED: STATE.CANCELED,
  REJECTED: STATE.REJECTED,
}) satisfies Record<WorkResponse["status"], TaskState>;

/**
 * Returns the task of a request without a result. With a waiting review, the task asks for input.
 */
export function openWorkTask(
  sight: TaskSight,
  state: QueueState,
  review?: AskedReview,
): Task & { metadata: Fields | undefined } {
  if (review !== undefined)
    return task(sight, STATE.INPUT_REQUIRED, { message: questionMessage(sight, review) });
  return task(sight, state === "QUEUED" ? STATE.SUBMITTED : STATE.WORKING);
}

/** Returns the task of a request that has a result. */
export function endedWorkTask(sight: TaskSight, response: WorkResponse): Task {
  const ended = task(sight, END_STATES[response.status], {
    message: errorMessage(sight, response),
    metadata: { [WORK_EXTENSION]: unplacedFields(response) },
  });
  return response.status === "COMPLETED" ? { ...ended, artifacts: [artifactOf(response)] } : ended;
}

/** Returns the events that end the stream of a request. A long text is sent in several events. */
export function endEvents(sight: TaskSight, response: WorkResponse): readonly StreamResponse[] {
  const { id: taskId, contextId } = sight;
  const { status, metadata } = endedWorkTask({ ...sight }, { ...response, result: "" });
  const isLong = JSON.stringify(response.parsed ?? null).length > MOST_PARSED;
  const events: StreamResponse[] = [];
  if (response.status === "COMPLETED") {
    const text = response.result ?? "";
    const pieces = Math.max(1, Math.ceil(text.length / CHUNK));
    for (let piece = 0; piece < pieces; piece++) {
      const lastChunk = piece === pieces - 1;
      const shown = { ...response, result: text.slice(piece * CHUNK, (piece + 1) * CHUNK) };
      if (!lastChunk || isLong) delete shown.parsed;
      const value = { taskId, contextId, append: piece > 0, lastChunk, metadata: undefined };
      events.push({
        payload: { $case: "artifactUpdate", value: { ...value, artifact: artifactOf(shown) } },
      });
    }
  }
  const extension = { ...unplacedFields(response), ...(isLong && { incomplete: true }) };
  const shown = { ...metadata, [WORK_EXTENSION]: extension };
  return [...events, statusEvent(sight, status?.state ?? STATE.FAILED, status?.message, shown)];
}

/** Returns the event of a waiting review. */
export function reviewEvent(sight: TaskSight, review: AskedReview): StreamResponse {
  return statusEvent(sight, STATE.INPUT_REQUIRED, questionMessage(sight, review));
}

/** Returns the event of progress in the execution. */
export function progressEvent(sight: TaskSight, progress: unknown): StreamResponse {
  return statusEvent(sight, STATE.WORKING, undefined, { [WORK_EXTENSION]: { progress } });
}

export function taskEvent(value: Task): StreamResponse {
  return { payload: { $case: "task", value } };
}

function statusEvent(
  { id: taskId, contextId, at }: TaskSight,
  state: TaskState,
  message?: Message,
  metadata?: Record<string, unknown>,
): StreamResponse {
  const status = { state, message, timestamp: at };
  return { payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata } } };
}

function task(
  { id, contextId, at }: TaskSight,
  state: TaskState,
  more: { readonly message?: Message | undefined; readonly metadata?: Fields } = {},
): Task {
  return {
    id,
    contextId,
    status: { state, message: more.message, timestamp: at },
    artifacts: [],
    history: [],
    metadata: more.metadata,
  };
}

function artifactOf({ result = "", parsed }: WorkResponse): Artifact {
  return {
    artifactId: "result",
    name: "result",
    description: "",
    parts: [textPart(result), ...(parsed === undefined ? [] : [dataPart(parsed)])],
    metadata: undefined,
    extensions: [],
  };
}

/** Returns the fields of a result that have no counterpart in A2A. */
function unplacedFields(response: WorkResponse): Fields {
  const { requestId: _id, result: _result, parsed: _parsed, error: _error, ...outcome } = response;
  return outcome;
}

function errorMessage(sight: TaskSight, { error }: WorkResponse): Message | undefined {
  if (error === undefined) return undefined;
  return agentMessage(sight, "error", [textPart(error)]);
}

function questionMessage(sight: TaskSight, review: AskedReview): Message {
  return agentMessage(sight, review.reviewId, reviewParts(review));
}

function agentMessage(
  { id: taskId, contextId }: TaskSight,
  name: string,
  parts: Message["parts"],
): Message {
  return messageWith({
    messageId: `${taskId}/${name}`,
    role: ROLE.AGENT,
    taskId,
    contextId,
    parts,
  });
}
