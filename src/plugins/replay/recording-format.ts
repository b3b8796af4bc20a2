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

/** What a recording begins with: one JSON document per line, this one first. */
export const RECORDING_FORMAT = "agentensemble/recording";
export const RECORDING_VERSION = 2;
/** Without the order of steps, their values and the salt. */
export const FIRST_VERSION = 1;

export interface HeaderLine {
  readonly format: typeof RECORDING_FORMAT;
  readonly version: number;
  /** Goes into the hashes of requests and arguments. */
  readonly salt: string;
}

/** A run began. */
export interface RunLine {
  readonly type: "run";
  readonly run: string;
  readonly startedAt: string;
  /** The run that this one joined. */
  readonly parent?: string | undefined;
}

/** A step's place in the one order of starts and ends of a run and of those that joined it. Times are milliseconds from the start of the first of them. */
export interface StepTimes {
  /** The key of the step. */
  readonly step: string;
  /** The key of the task that takes it. */
  readonly owner?: string | undefined;
  readonly started: number;
  readonly startedMs: number;
  /** Missing where the step never ended, or was refused after its work. */
  readonly ended?: number | undefined;
  readonly endedMs?: number | undefined;
}

/** A step without another kind of line: a task, a delegation, a write, a decision of a person, a read of a store. */
export interface StepLine extends StepTimes {
  readonly type: "step";
  readonly run: string;
  /** The end is that of a task whose output was accepted. */
  readonly committed?: true | undefined;
  /** What came from outside. */
  readonly value?: unknown;
  readonly error?: StoredError | undefined;
}

/** A message of a conversation. It is written once, and calls name it by its number, since every call repeats all that was said before. */
export interface MessageLine {
  readonly type: "message";
  readonly n: number;
  readonly message: ChatMessage;
}

/** What a streamed answer came in, less its end. A piece of text is written as the text itself. */
export type StoredChunk = string | Extract<ChatChunk, { readonly type: "tool_call" | "reasoning" }>;

/** How a model call ended: with an answer, a failure, a stream without an end, or because it was called off. */
export interface CallResult {
  readonly response?: ChatResponse | undefined;
  readonly error?: StoredError | undefined;
  readonly aborted?: true | undefined;
  /** Only of streams. One without `response`, `error` and `aborted` just stopped. */
  readonly chunks?: readonly StoredChunk[] | undefined;
}

/** What was asked of a model, and when. Times are milliseconds; `endMs` counts from the start of the run. */
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
  /** The key of the request as it stands in the file; only where that differs. */
  readonly redactedKey?: string | undefined;
  readonly request: Omit<ChatRequest, "messages"> & { readonly messages: readonly number[] };
  readonly endMs: number;
  readonly ms: number;
  /** No model was asked: a plugin gave the answer. */
  readonly answered?: true | undefined;
  /** No model was asked: the call waited too long for a rate limit; see `error`. */
  readonly refused?: true | undefined;
}

export interface ToolResultLine {
  readonly ok: boolean;
  /** The output, or why it failed. */
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

/** An id that was drawn for a delegation. */
export interface DelegationLine {
  readonly type: "delegation";
  readonly run: string;
  readonly id: string;
}

export type RecordingLine = RunLine | StepLine | MessageLine | CallLine | ToolLine | DelegationLine;
