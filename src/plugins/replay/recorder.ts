import { createHash } from "node:crypto";
import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
} from "../../contracts/chat-model.js";
import type {
  After,
  DelegationCall,
  LlmCall,
  MemoryWrite,
  Replace,
  RunCall,
  TaskCall,
  ToolCallContext,
} from "../../contracts/hooks.js";
import type { ContentPart } from "../../contracts/content.js";
import type { EnsembleEvent } from "../../contracts/events.js";
import type { MemoryEntry } from "../../contracts/memory.js";
import type { OutsideAccess, OutsideCall } from "../../contracts/outside.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { HookRun } from "../../contracts/run.js";
import type { ToolResult } from "../../contracts/tool-result.js";
import type { RecordingFile } from "./recording-file.js";
import type {
  CallLine,
  CallResult,
  RecordingLine,
  StepLine,
  StepTimes,
  ToolLine,
} from "./recording-format.js";
import { allowedRequest } from "../../contracts/allowed-request.js";
import { RateLimitTimeoutError } from "../../contracts/errors.js";
import { replace } from "../../contracts/hooks.js";
import { extraOf } from "../shared/result-extra.js";
import { PartDigests, withFileText } from "../shared/part-digests.js";
import { callKey, toolKey } from "./keys.js";
import { replacedModel } from "./mismatch.js";
import { recordedOf, recordingModel } from "./recording-model.js";
import { StepLog } from "./step-log.js";
import { storedMessage } from "./stored-message.js";
import { storeError } from "../shared/stored-error.js";
import { rounded } from "../../util/objects.js";

/**
 * A message and its number in the file. Each call contains the whole conversation. The file
 * contains each message once.
 */
interface StoredMessage {
  readonly n: number;
  readonly message: ChatMessage;
  /** Whether a secret was removed from it. */
  readonly changed: boolean;
}

/**
 * Records external data: answers of models and tools, decisions of people, reads of stores, and
 * ids. Also records the order of the starts and ends of all steps. Does not read the clock of the
 * run, because a read would change it. Lines are created later, so no call waits for them.
 */
export class Recorder implements OutsideAccess {
  readonly #log = new StepLog();
  readonly #digests = new PartDigests();
  /** The start of each run, by the clock of the machine. */
  readonly #starts = new Map<string, { readonly run: HookRun; readonly ms: number }>();
  readonly #messages = new WeakMap<ChatMessage, StoredMessage>();
  /** Message numbers, by the hash of the text in the file. */
  readonly #numbers = new Map<string, number>();
  /** The time at which each tool call passed all taps. */
  readonly #executed = new WeakMap<object, number>();
  /** Keys of model calls (by their model), tool calls and entries. */
  readonly #keys = new WeakMap<object, string>();
  /** Tasks with accepted outputs. */
  readonly #accepted = new Set<string>();

  constructor(readonly file: RecordingFile) {}

  begin({ run }: RunCall): void {
    this.#starts.set(run.id, { run, ms: performance.now() });
    this.#log.begin(run);
    const startedAt = run.startedAt.toISOString();
    this.#write(run, () => ({ type: "run", run: run.id, startedAt, parent: run.parent?.id }));
  }

  end({ run }: RunCall): Promise<void> {
    for (const times of this.#log.end(run.id)) this.#step(run, times);
    this.#starts.delete(run.id);
    return this.file.flush();
  }

  taskStarts(call: TaskCall): void {
    const name = this.#log.names(call.run.id)?.taskStarts(call);
    if (name !== undefined) this.#log.started(call.run.id, name);
  }

  /** Records the end of a task without an output of its execution. */
  taskEnds({ run, taskId, outcome }: After<TaskCall, "output", TaskOutput>): void {
    const key = outcome === "ok" ? undefined : this.#log.names(run.id)?.task(taskId);
    this.#step(run, this.#log.ended(run.id, key));
  }

  taskAccepted({ run, taskId }: TaskCall): void {
    const key = this.#log.names(run.id)?.task(taskId);
    if (key !== undefined) this.#accepted.add(key);
  }

  /** Records an accepted output. From here on, it is visible to all taps and tasks. */
  taskCompleted({
    runId,
    taskId,
  }: Pick<EnsembleEvent, "runId"> & { readonly taskId: string }): void {
    const key = this.#log.names(runId)?.task(taskId);
    const run = this.#starts.get(runId)?.run;
    if (run === undefined || key === undefined || !this.#accepted.delete(key)) return;
    this.#step(run, this.#log.ended(runId, key), { committed: true });
  }

  /** Adds a listener to the model. */
  listen(call: LlmCall): Replace<{ readonly model: ChatModel }> {
    const name = this.#log.names(call.run.id)?.call(call);
    if (name !== undefined) this.#log.started(call.run.id, name);
    const model = recordingModel(call.model, (request, count, startedMs, result) => {
      const sent = { ...request, messages: request.messages.slice(0, count) };
      const times = this.#log.ended(call.run.id, name?.key);
      this.#call({ ...call, request: sent }, startedMs, { ...result, ...times });
    });
    if (name !== undefined) this.#keys.set(model, name.key);
    return replace({ model });
  }

  /**
   * @throws ValidationError if a later plugin has replaced the model, because it would not be
   * recorded.
   */
  check({ model }: LlmCall): void {
    if (recordedOf(model) === undefined) throw replacedModel("recordTo(file)");
  }

  /**
   * Records the end of a call without a model. In a replay it may differ: an answer of a cache, or
   * a wait for a rate limit.
   */
  callEnded(
    call: After<LlmCall & { readonly durationMs: number }, "response", ChatResponse>,
  ): void {
    const { outcome, response, error, durationMs, model, run } = call;
    const times = this.#log.ended(run.id, this.#keys.get(model));
    const asked = outcome === "answered" ? allowedRequest(call) : call.request;
    const sent = { ...call, request: { ...asked, messages: [...asked.messages] } };
    const startedMs = performance.now() - durationMs;
    if (outcome === "answered")
      this.#call(sent, startedMs, { response: answerOf(response), ...times, answered: true });
    else if (RateLimitTimeoutError.isInstance(error))
      this.#call(sent, startedMs, { error: storeError(error), ...times, refused: true });
    else this.#step(run, times);
  }

  toolStarts(call: ToolCallContext): void {
    const name = this.#log.names(call.run.id)?.tool(call);
    if (name === undefined) return;
    this.#log.started(call.run.id, name);
    this.#keys.set(call.call, name.key);
  }

  /** The last tap before the tool. */
  toolExecutes({ call }: ToolCallContext): void {
    this.#executed.set(call, performance.now());
  }

  toolEnded(settled: After<ToolCallContext, "result", ToolResult>): void {
    const { run, taskId, attempt, tool, call, outcome } = settled;
    const steps = this.#log.ended(run.id, this.#keys.get(call));
    const startedMs = this.#executed.get(call);
    const happened = outcome === "answered" || (startedMs !== undefined && outcome !== "rejected");
    if (tool.replay === "run" || !happened) return this.#step(run, steps);
    const times = { ...this.#times(run, startedMs), ...steps };
    const { parts, ...ended } = toolOutcome(settled);
    const line = (): ToolLine => {
      const key = toolKey(tool.name, call.arguments, this.file.salt);
      const redactedKey = toolKey(tool.name, run.redact(call.arguments), this.file.salt);
      const asked = {
        run: run.id,
        task: taskId,
        attempt,
        tool: tool.name,
        arguments: call.arguments,
        key,
        ...(redactedKey !== key && { redactedKey }),
      };
      return { type: "tool", ...asked, ...times, ...ended };
    };
    if (parts === undefined) return this.#write(run, line);
    this.file.append(() => JSON.stringify(withParts(run.redactValue(line()), parts, run)));
  }

  delegation(call: DelegationCall): void {
    const { run, request } = call;
    const name = this.#log.names(run.id)?.delegation(call);
    if (name !== undefined) this.#log.started(run.id, name);
    this.#write(run, () => ({ type: "delegation", run: run.id, id: request.taskId }));
  }

  delegated(call: DelegationCall): void {
    const key = this.#log.names(call.run.id)?.delegation(call).key;
    this.#step(call.run, this.#log.ended(call.run.id, key));
  }

  writeStarts(call: MemoryWrite): void {
    const name = this.#log.names(call.run.id)?.write(call);
    if (name === undefined) return;
    this.#log.started(call.run.id, name);
    this.#keys.set(call.entry, name.key);
  }

  written(call: After<MemoryWrite, "entry", MemoryEntry>): void {
    const { run, outcome, entry, error } = call;
    const key = entry === undefined ? this.#log.openWrite(run.id, call) : this.#keys.get(entry);
    this.#step(
      run,
      this.#log.ended(run.id, key),
      outcome === "ok" || error === undefined ? {} : { error: storeError(error) },
    );
  }

  async access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
    const { run } = this.#starts.get(call.run.id) ?? {};
    const name = call.kind === "export" ? undefined : this.#log.names(call.run.id)?.outside(call);
    if (run === undefined || name === undefined) return work();
    this.#log.started(run.id, name);
    try {
      const value = await work();
      const kept = value === undefined ? {} : { value: call.codec?.toJson(value) ?? value };
      this.#step(run, this.#log.ended(run.id, name.key), kept);
      return value;
    } catch (error) {
      const kept = call.signal?.aborted === true ? {} : { error: storeError(error) };
      this.#step(run, this.#log.ended(run.id, name.key), kept);
      throw error;
    }
  }

  #step(
    run: HookRun,
    times: StepTimes | undefined,
    more: Partial<Pick<StepLine, "committed" | "value" | "error">> = {},
  ): void {
    if (times === undefined) return;
    this.#write(run, (): StepLine => ({ type: "step", run: run.id, ...times, ...more }));
  }

  #call(
    call: LlmCall,
    startedMs: number,
    result: CallResult & Partial<StepTimes> & Pick<CallLine, "answered" | "refused">,
  ): void {
    const { run, taskId, iteration, attempt, purpose, request } = call;
    const { provider, modelId } = call.model;
    const place = { run: run.id, task: taskId, iteration, attempt, purpose, provider, modelId };
    const times = this.#times(run, startedMs);
    this.#write(run, (): CallLine => {
      const stored = request.messages.map((message) => this.#store(message, run));
      const asked = { ...request, messages: stored.map(({ n }) => n) };
      const keys = this.#keysOf(request, stored, place);
      return { type: "call", ...place, ...keys, request: asked, ...times, ...result };
    });
  }

  /** Returns a message in the form of the file. Writes it if it is new. */
  #store(message: ChatMessage, run: HookRun): StoredMessage {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    const redacted = storedMessage(message, run, this.#digests);
    const text = JSON.stringify(redacted);
    const hash = createHash("sha256").update(text).digest("base64");
    let n = this.#numbers.get(hash);
    if (n === undefined) {
      n = this.#numbers.size;
      this.#numbers.set(hash, n);
      this.file.append(() => `{"type":"message","n":${n},"message":${text}}`);
    }
    const original = JSON.stringify(this.#digests.withoutContent(message));
    const stored = { n, message: redacted, changed: text !== original };
    this.#messages.set(message, stored);
    return stored;
  }

  #keysOf(
    request: ChatRequest,
    stored: readonly StoredMessage[],
    asked: Parameters<typeof callKey>[1],
  ): Pick<CallLine, "key" | "redactedKey"> {
    const { salt } = this.file;
    const key = callKey(request, asked, salt, this.#digests);
    if (!stored.some(({ changed }) => changed)) return { key };
    const messages = stored.map(({ message }) => message);
    return { key, redactedKey: callKey({ ...request, messages }, asked, salt, this.#digests) };
  }

  #times(
    run: HookRun,
    startedMs: number | undefined,
  ): { readonly endMs: number; readonly ms: number } {
    const nowMs = performance.now();
    return {
      endMs: rounded(nowMs - (this.#starts.get(run.id)?.ms ?? nowMs), 3),
      ms: rounded(nowMs - (startedMs ?? nowMs), 3),
    };
  }

  #write(run: HookRun, line: () => RecordingLine): void {
    this.file.append(() => JSON.stringify(run.redactValue(line())));
  }
}

/** Returns the answer of a plugin. Without usage, it has used no tokens, also in a replay. */
function answerOf(response: ChatResponse): ChatResponse {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  return response.usage === undefined ? { ...response, usage } : response;
}

/**
 * The end of a tool call. `parts` are separate from the result, because their content is not
 * searched for secrets.
 */
type ToolEnd = Pick<ToolLine, "result" | "error" | "aborted"> & {
  readonly parts?: readonly ContentPart[];
};

function toolOutcome(settled: After<ToolCallContext, "result", ToolResult>): ToolEnd {
  const { outcome, result, error, signal } = settled;
  if (outcome === "ok" || outcome === "answered") return storeResult(result);
  return signal.aborted ? { aborted: true } : { error: storeError(error) };
}

function storeResult(result: ToolResult): ToolEnd {
  const { ok, output, errorMessage, structured } = result;
  const { parts, sources } = extraOf(result);
  return {
    result: {
      ok,
      text: ok ? output : (errorMessage ?? ""),
      ...(structured !== undefined && { structured }),
      ...(sources !== undefined && { sources }),
    },
    ...(parts !== undefined && { parts }),
  };
}

/** Adds the parts of a tool result to its line, with text files redacted. */
function withParts(line: unknown, parts: readonly ContentPart[], run: HookRun): object {
  const { result, ...fields } = line as ToolLine; // of the same shape
  const safe = parts.map((part) =>
    part.type === "text"
      ? { ...part, text: run.redact(part.text) }
      : withFileText(part, (text) => run.redact(text)),
  );
  return { ...fields, result: { ...result, parts: safe } };
}
