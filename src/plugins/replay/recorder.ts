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
  Replace,
  RunCall,
  ToolCallContext,
} from "../../contracts/hooks.js";
import type { HookRun } from "../../contracts/run.js";
import type { ToolResult } from "../../contracts/tool.js";
import type { RecordingFile } from "./recording-file.js";
import type {
  CallLine,
  CallResult,
  RecordingLine,
  ToolLine,
  ToolResultLine,
} from "./recording-format.js";
import { RateLimitTimeoutError } from "../../contracts/errors.js";
import { replace } from "../../contracts/hooks.js";
import { callKey, toolKey } from "./keys.js";
import { replacedModel } from "./mismatch.js";
import { recordedOf, recordingModel } from "./recording-model.js";
import { storeError } from "./stored-error.js";
import { rounded } from "../../util/objects.js";

/** A message and its number in the file: every call repeats all that was said before, the file does not. */
interface StoredMessage {
  readonly n: number;
  readonly message: ChatMessage;
  /** Whether a secret was taken out of it. */
  readonly changed: boolean;
}

/**
 * Writes down what comes from outside: answers of models and tools, ids, and when runs began. Reads no clock of the run, so as not to change it. Lines
 * are made a moment later, so that no call waits for that.
 */
export class Recorder {
  /** When each run began, by the machine's clock. */
  readonly #starts = new WeakMap<HookRun, number>();
  readonly #messages = new WeakMap<ChatMessage, StoredMessage>();
  /** By the hash of what stands in the file. */
  readonly #numbers = new Map<string, number>();
  /** When each tool call that got past all taps did. */
  readonly #executed = new WeakMap<object, number>();

  constructor(readonly file: RecordingFile) {}

  begin({ run }: RunCall): void {
    this.#starts.set(run, performance.now());
    const startedAt = run.startedAt.toISOString();
    this.#write(run, () => ({ type: "run", run: run.id, startedAt }));
  }

  end(): Promise<void> {
    return this.file.flush();
  }

  /** Puts a listener before the model. */
  listen(call: LlmCall): Replace<{ readonly model: ChatModel }> {
    const model = recordingModel(call.model, (request, count, startedMs, result) => {
      this.#call(
        { ...call, request: { ...request, messages: request.messages.slice(0, count) } },
        startedMs,
        result,
      );
    });
    return replace({ model });
  }

  /** @throws ValidationError where a later plugin has put in another model, of which nothing would be recorded. */
  check({ model }: LlmCall): void {
    if (recordedOf(model) === undefined) throw replacedModel("recordTo(file)");
  }

  /** What became of calls that no model saw, where that may be another thing in a replay: answers of a cache, and waits for a rate limit. */
  callEnded(
    call: After<LlmCall & { readonly durationMs: number }, "response", ChatResponse>,
  ): void {
    const { outcome, response, error, durationMs } = call;
    const sent = { ...call, request: { ...call.request, messages: [...call.request.messages] } };
    const startedMs = performance.now() - durationMs;
    if (outcome === "answered") this.#call(sent, startedMs, { response }, { answered: true });
    else if (RateLimitTimeoutError.isInstance(error))
      this.#call(sent, startedMs, { error: storeError(error) }, { refused: true });
  }

  /** The last before the tool itself. */
  toolStarts({ call }: ToolCallContext): void {
    this.#executed.set(call, performance.now());
  }

  toolEnded(settled: After<ToolCallContext, "result", ToolResult>): void {
    const { run, taskId, attempt, tool, call, outcome } = settled;
    const startedMs = this.#executed.get(call);
    const happened = outcome === "answered" || (startedMs !== undefined && outcome !== "rejected");
    if (tool.replay === "run" || !happened) return;
    const times = this.#times(run, startedMs);
    const ended = toolOutcome(settled);
    this.#write(run, (): ToolLine => {
      const key = toolKey(tool.name, call.arguments);
      const redactedKey = toolKey(tool.name, run.redact(call.arguments));
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
    });
  }

  delegation({ run, request }: DelegationCall): void {
    this.#write(run, () => ({ type: "delegation", run: run.id, id: request.taskId }));
  }

  #call(
    call: LlmCall,
    startedMs: number,
    result: CallResult,
    kind: Pick<CallLine, "answered" | "refused"> = {},
  ): void {
    const { run, taskId, iteration, attempt, purpose, request } = call;
    const { provider, modelId } = call.model;
    const place = { run: run.id, task: taskId, iteration, attempt, purpose, provider, modelId };
    const times = this.#times(run, startedMs);
    this.#write(run, (): CallLine => {
      const stored = request.messages.map((message) => this.#store(message, run));
      const asked = { ...request, messages: stored.map(({ n }) => n) };
      const keys = keysOf(request, stored, place);
      return { type: "call", ...place, ...keys, request: asked, ...times, ...kind, ...result };
    });
  }

  /** A message as it stands in the file; it is written where it is new. */
  #store(message: ChatMessage, run: HookRun): StoredMessage {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    const redacted = run.redactValue(message) as ChatMessage; // of the same shape
    const text = JSON.stringify(redacted);
    const hash = createHash("sha256").update(text).digest("base64");
    let n = this.#numbers.get(hash);
    if (n === undefined) {
      n = this.#numbers.size;
      this.#numbers.set(hash, n);
      this.file.append(() => `{"type":"message","n":${n},"message":${text}}`);
    }
    const stored = { n, message: redacted, changed: text !== JSON.stringify(message) };
    this.#messages.set(message, stored);
    return stored;
  }

  #times(
    run: HookRun,
    startedMs: number | undefined,
  ): { readonly endMs: number; readonly ms: number } {
    const nowMs = performance.now();
    return {
      endMs: rounded(nowMs - (this.#starts.get(run) ?? nowMs), 3),
      ms: rounded(nowMs - (startedMs ?? nowMs), 3),
    };
  }

  #write(run: HookRun, line: () => RecordingLine): void {
    this.file.append(() => JSON.stringify(run.redactValue(line())));
  }
}

type Keys = Pick<CallLine, "key" | "redactedKey">;

function keysOf(
  request: ChatRequest,
  stored: readonly StoredMessage[],
  asked: Parameters<typeof callKey>[1],
): Keys {
  const key = callKey(request, asked);
  if (!stored.some(({ changed }) => changed)) return { key };
  return {
    key,
    redactedKey: callKey({ ...request, messages: stored.map(({ message }) => message) }, asked),
  };
}

function toolOutcome(
  settled: After<ToolCallContext, "result", ToolResult>,
): Pick<ToolLine, "result" | "error" | "aborted"> {
  const { outcome, result, error, signal } = settled;
  if (outcome === "ok" || outcome === "answered") return { result: storeResult(result) };
  return signal.aborted ? { aborted: true } : { error: storeError(error) };
}

function storeResult({ ok, output, errorMessage, structured }: ToolResult): ToolResultLine {
  return {
    ok,
    text: ok ? output : (errorMessage ?? ""),
    ...(structured !== undefined && { structured }),
  };
}
