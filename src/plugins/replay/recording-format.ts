import type {
  ChatChunk,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  Purpose,
} from "../../contracts/chat-model.js";
import type { ContentPart } from "../../contracts/content.js";
import type { Source } from "../../contracts/tool-result.js";
import type { StoredError } from "../shared/stored-error.js";

/** The first line of a recording, which has one JSON document per line. */
export const RECORDING_FORMAT = "agentensemble/recording";
export const RECORDING_VERSION = 2;
/** The version without the order of steps, their values and the salt. */
export const FIRST_VERSION = 1;

export interface HeaderLine {
  readonly format: typeof RECORDING_FORMAT;
  readonly version: number;
  /** Part of the hashes of requests and arguments. */
  readonly salt: string;
}

/** The start of a run. */
export interface RunLine {
  readonly type: "run";
  readonly run: string;
  readonly startedAt: string;
  /** The run that this run joined. */
  readonly parent?: string | undefined;
}

/**
 * The position of a step in the common order of starts and ends. The order includes a run and the
 * runs that joined it. Times are milliseconds from the start of the first run.
 */
export interface StepTimes {
  /** The key of the step. */
  readonly step: string;
  /** The key of the task of the step. */
  readonly owner?: string | undefined;
  readonly started: number;
  readonly startedMs: number;
  /** Absent if the step did not end, or was refused after its work. */
  readonly ended?: number | undefined;
  readonly endedMs?: number | undefined;
}

/**
 * A step without a separate kind of line. Examples are a task, a delegation, a write, a decision of
 * a person and a read of a store.
 */
export interface StepLine extends StepTimes {
  readonly type: "step";
  readonly run: string;
  /** Set at the end of a task whose output was accepted. */
  readonly committed?: true | undefined;
  /** The external data. */
  readonly value?: unknown;
  readonly error?: StoredError | undefined;
}

/**
 * A message of a conversation. It is written once, and calls refer to it by its number. Each call
 * contains the whole conversation.
 */
export interface MessageLine {
  readonly type: "message";
  readonly n: number;
  readonly message: ChatMessage;
}

/** The chunks of a streamed answer without its end. A piece of text is stored as a string. */
export type StoredChunk = string | Extract<ChatChunk, { readonly type: "tool_call" | "reasoning" }>;

/** The end of a model call: an answer, a failure, an incomplete stream, or a cancellation. */
export interface CallResult {
  readonly response?: ChatResponse | undefined;
  readonly error?: StoredError | undefined;
  readonly aborted?: true | undefined;
  /** Present for streams only. A stream without `response`, `error` and `aborted` is incomplete. */
  readonly chunks?: readonly StoredChunk[] | undefined;
}

/**
 * The request to a model, and its time. Times are milliseconds. `endMs` counts from the start of
 * the run.
 */
export interface CallPlace {
  readonly run: string;
  readonly task: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly purpose: Purpose;
  readonly provider: string;
  readonly modelId: string;
}

export interface CallLine extends CallPlace, CallResult, Partial<StepTimes> {
  readonly type: "call";
  readonly key: string;
  /** The key of the request in the form of the file, if it differs. */
  readonly redactedKey?: string | undefined;
  readonly request: Omit<ChatRequest, "messages"> & { readonly messages: readonly number[] };
  readonly endMs: number;
  readonly ms: number;
  /** Set if no model was called, because a plugin answered. */
  readonly answered?: true | undefined;
  /** Set if no model was called, because the wait for a rate limit was too long. See `error`. */
  readonly refused?: true | undefined;
}

export interface ToolResultLine {
  readonly ok: boolean;
  /** The output, or the reason of the failure. */
  readonly text: string;
  readonly structured?: unknown;
  readonly parts?: readonly ContentPart[] | undefined;
  readonly sources?: readonly Source[] | undefined;
}

export interface ToolLine extends Partial<StepTimes> {
  readonly type: "tool";
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly tool: string;
  readonly arguments: string;
  readonly key: string;
  readonly redactedKey?: string | undefined;
  readonly endMs: number;
  readonly ms: number;
  readonly result?: ToolResultLine | undefined;
  readonly error?: StoredError | undefined;
  readonly aborted?: true | undefined;
}

/** An id that was generated for a delegation. */
export interface DelegationLine {
  readonly type: "delegation";
  readonly run: string;
  readonly id: string;
}

export type RecordingLine = RunLine | StepLine | MessageLine | CallLine | ToolLine | DelegationLine;
