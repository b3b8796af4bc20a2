import type { ChatModel, ChatRequest } from "../../contracts/chat-model.js";
import type {
  After,
  Answer,
  LlmCall,
  Reject,
  Replace,
  RunCall,
  ToolCallContext,
} from "../../contracts/hooks.js";
import type { EnsembleOutput } from "../../contracts/output.js";
import type { HookRun } from "../../contracts/run.js";
import type { Awaitable } from "../../contracts/types.js";
import type { IdUse } from "../../contracts/runtime.js";
import type { UnknownRequest } from "./difference.js";
import type { ReplaySettings } from "./replay-options.js";
import type { RecordingSource } from "./recording-source.js";
import type { CallResult } from "./recording-format.js";
import type { RecordedCall, RecordedTool, Recording } from "./recording.js";
import { AgentEnsembleError, ExitEarlySignal, ToolExecutionError } from "../../contracts/errors.js";
import { answer, reject, replace } from "../../contracts/hooks.js";
import { RecordingMismatchError } from "../../contracts/state-errors.js";
import { ToolResult } from "../../contracts/tool-result.js";
import { extraOf } from "../shared/result-extra.js";
import { sleep } from "../../util/abort/timeouts.js";
import { systemClock, uuidGenerator } from "../../util/runtime.js";
import { conversationDifference, sides } from "./difference.js";
import { callKey, toolKey } from "./keys.js";
import { storedMessage, storedRequest } from "./stored-message.js";
import { PartDigests } from "../shared/part-digests.js";
import { neverEnded, replacedModel, unknownCall, unknownTool, unused } from "./mismatch.js";
import { positionKey } from "./read-trace.js";
import { recordedOf } from "./recording-model.js";
import { PATIENCE_MS, ReplaySteps } from "./replay-steps.js";
import { replayingModel } from "./replaying-model.js";
import { restoreError } from "../shared/stored-error.js";
import { VirtualTime } from "../shared/virtual-time.js";

/** Replays recorded answers. Returns the recorded answer of each request, in the recorded order. */
export class ReplaySource {
  readonly time = new VirtualTime(
    (runId) => this.#begin(runId),
    systemClock,
    () => this.recording.isOrdered,
  );
  readonly steps: ReplaySteps;
  readonly #digests = new PartDigests();
  /** The start of each run, in virtual time. */
  readonly #starts = new Map<string, number>();
  /** Runs that continue without their recording. */
  readonly #live = new WeakSet<HookRun>();
  /** The models that replace others. */
  readonly #models = new WeakMap<ChatModel, string | undefined>();
  #recording: Recording | undefined;

  constructor(
    readonly source: RecordingSource,
    readonly settings: ReplaySettings,
  ) {
    this.steps = new ReplaySteps({
      recording: () => this.recording,
      exporters: settings.exporters,
      advance: (runId, ms) => this.time.advance((this.#starts.get(runId) ?? 0) + ms),
      missed: (run, error) => this.#missed(run, error),
    });
  }

  async load(): Promise<void> {
    this.#recording = await this.source.load();
  }

  /** Returns the ids of the recording in order, followed by new ids. */
  nextId(use: IdUse | undefined): string {
    const recording = this.#recordingNow();
    const id =
      use === "run"
        ? recording?.nextRunId()
        : use === "delegation"
          ? recording?.delegationIds.shift()
          : undefined;
    return id ?? uuidGenerator.next();
  }

  /** Called when the run with this id was refused before it began. */
  giveBack(id: string): void {
    this.#recordingNow()?.giveBack(id);
  }

  /** Replaces the model by the recording. */
  replace(call: LlmCall): Awaitable<Replace<{ readonly model: ChatModel }> | undefined> {
    if (this.#live.has(call.run)) return undefined;
    const { key, ready } = this.steps.callStarts(call);
    // a replay can also be recorded, in any order of the plugins
    const recorded = recordedOf(call.model);
    const asked = recorded === undefined ? call : { ...call, model: recorded.inner };
    const model = replayingModel(asked.model, (request, signal) =>
      this.#answer(asked, request, { key, signal: signal ?? call.signal }),
    );
    this.#models.set(model, key);
    const verdict = replace<{ readonly model: ChatModel }>({
      model: recorded?.around(model) ?? model,
    });
    return ready === undefined ? verdict : ready.then(() => verdict);
  }

  /**
   * @throws ValidationError if a later plugin has replaced the model, because it would be called.
   */
  check({ run, model }: LlmCall): void {
    if (this.#live.has(run) || this.#models.has(recordedOf(model)?.inner ?? model)) return;
    throw replacedModel("replayFrom(source)");
  }

  /** Ends a call that no recorded answer has ended. */
  callEnds({ run, model, signal }: LlmCall): void | Promise<void> {
    return this.steps.ends(run.id, this.#models.get(recordedOf(model)?.inner ?? model), signal);
  }

  /** Repeats a refused wait from the recording, because no rate limit applies in a replay. */
  refusal(call: LlmCall): undefined | Promise<Reject | undefined> {
    const { refusals } = this.recording;
    return refusals.isEmpty || this.#live.has(call.run) ? undefined : this.#refusal(call);
  }

  /** Returns the recorded result of a tool. Runs tools that only delegate. */
  tool(call: ToolCallContext): undefined | Promise<Answer<ToolResult> | undefined> {
    if (this.#live.has(call.run)) return undefined;
    if (call.tool.replay !== "run") return this.#tool(call);
    // a trace does not distinguish such tools from others
    if (this.recording.kind === "trace") this.#taken(call);
    return undefined;
  }

  /** @throws RecordingMismatchError if the options require that all calls are used. */
  end({ run, outcome }: After<RunCall, "output", EnsembleOutput>): void {
    this.#starts.delete(run.id);
    this.steps.end(run);
    const { onUnused } = this.settings;
    const recorded = this.recording.runOf(run.id);
    if (onUnused === "ignore" || outcome !== "ok" || recorded === undefined || this.#live.has(run))
      return;
    const left = this.recording.leftOf(recorded);
    if (left.length === 0) return;
    const message = unused(this.recording, left);
    if (onUnused === "fail")
      throw new RecordingMismatchError(message, { hint: "Record it again with recordTo(file)." });
    run.warn(message);
  }

  get recording(): Recording {
    return (this.#recording ??= this.source.now());
  }

  async #answer(
    call: LlmCall,
    request: ChatRequest,
    { key, signal }: { readonly key: string | undefined; readonly signal: AbortSignal },
  ): Promise<CallResult | "live"> {
    const { run, taskId, iteration, purpose, model } = call;
    if (this.#live.has(run)) return "live";
    const { provider, modelId } = model;
    const asked = {
      request,
      run: this.#recordedId(run),
      task: taskId,
      iteration,
      purpose,
      provider,
      modelId,
    };
    const entry = this.recording.calls.take(this.#callKeys(call, request), {
      ...asked,
      attempt: call.attempt,
      step: key,
    });
    const difference = entry === undefined ? undefined : this.#traceDifference(entry, asked, run);
    if (entry === undefined || difference !== undefined) {
      return this.#missed(run, () =>
        unknownCall(
          this.recording,
          { ...asked, request: storedRequest(request, run, this.#digests) },
          run,
          difference && `It differs in ${difference}`,
        ),
      );
    }
    await this.#deliver(entry, run, signal, `Call ${iteration + 1} of task '${taskId}'`);
    return entry;
  }

  async #refusal(call: LlmCall): Promise<Reject | undefined> {
    const { run, taskId, iteration, attempt, request } = call;
    const step = this.#models.get(recordedOf(call.model)?.inner ?? call.model);
    const place = { run: this.#recordedId(run), task: taskId, iteration, attempt, step };
    const entry = this.recording.refusals.take(this.#callKeys(call, request), place, true);
    if (entry?.error === undefined) return undefined;
    await this.#deliver(entry, run, call.signal, "A call");
    const error = restoreError(entry.error);
    return reject(AgentEnsembleError.isInstance(error) ? error : error.message);
  }

  async #tool(call: ToolCallContext): Promise<Answer<ToolResult> | undefined> {
    const { run, taskId, tool } = call;
    const entry = this.#taken(call);
    if (entry === undefined) {
      this.#missed(run, () => unknownTool(this.recording, call));
      return undefined;
    }
    this.steps.toolAnswered(call);
    await this.#deliver(entry, run, call.signal, `Tool call ${tool.name} of task '${taskId}'`);
    return answer(replayedResult(entry));
  }

  #taken(context: ToolCallContext): RecordedTool | undefined {
    const { run, taskId, attempt, tool, call } = context;
    const { salt, tools } = this.recording;
    const keys = [
      toolKey(tool.name, call.arguments, salt),
      toolKey(tool.name, run.redact(call.arguments), salt),
    ];
    const step = this.steps.toolKey(context);
    return tools.take(keys, { run: this.#recordedId(run), task: taskId, attempt, step });
  }

  /**
   * Returns the difference to a trace, which identifies a call by its position. The request and the
   * model must be equal. A trace has only the model name of the answer.
   */
  #traceDifference(
    { messages, provider }: RecordedCall,
    { request, ...asked }: UnknownRequest,
    run: HookRun,
  ): string | undefined {
    if (this.recording.kind !== "trace" || messages === undefined) return undefined;
    if (provider !== asked.provider)
      return sides("the provider of the model", provider, asked.provider);
    const difference = conversationDifference(messages, request.messages);
    if (difference === undefined) return undefined;
    const redacted = request.messages.map((m) => storedMessage(m, run, this.#digests));
    return conversationDifference(messages, redacted);
  }

  #callKeys(call: LlmCall, request: ChatRequest): readonly string[] {
    const { run, taskId, iteration, attempt, purpose, model } = call;
    if (this.recording.kind === "trace") return [positionKey({ task: taskId, iteration, attempt })];
    const asked = { provider: model.provider, modelId: model.modelId, purpose };
    const { salt } = this.recording;
    const key = callKey(request, asked, salt, this.#digests);
    if (this.recording.calls.knows(key)) return [key];
    const messages = request.messages.map((m) => storedMessage(m, run, this.#digests));
    return [key, callKey({ ...request, messages }, asked, salt, this.#digests)];
  }

  /**
   * Returns `"live"` if the run may continue live.
   * @throws RecordingMismatchError, which also ends the run if the caller catches it.
   */
  #missed(run: HookRun, error: () => AgentEnsembleError): "live" {
    if (this.settings.onMiss === "fail") this.#fail(run, error());
    this.#live.add(run);
    this.time.goLive();
    this.steps.goLive(run.id);
    return "live";
  }

  #fail(run: HookRun, mismatch: AgentEnsembleError): never {
    run.stop(mismatch);
    this.steps.giveUp(run.id, mismatch);
    throw mismatch;
  }

  /** Waits for the recorded time of the answer. @throws the reason of the signal. */
  async #deliver(
    { endMs, ms, aborted, step }: RecordedCall | RecordedTool,
    run: HookRun,
    signal: AbortSignal,
    what: string,
  ): Promise<void> {
    if (aborted === true) {
      await sleep(ms + PATIENCE_MS, signal);
      this.#fail(run, neverEnded(this.recording, what));
    }
    if (step !== undefined) {
      await this.steps.ends(run.id, step, signal);
      signal.throwIfAborted();
    } else await this.time.until((this.#starts.get(run.id) ?? 0) + endMs, signal);
  }

  #recordedId(run: HookRun): string | undefined {
    return this.recording.runOf(run.id)?.id;
  }

  #begin(runId: string): Date | undefined {
    this.#starts.set(runId, this.time.monotonicMs());
    return this.recording.begin(runId)?.startedAt;
  }

  /**
   * Returns `undefined` if the recording can't be read. The start of the kernel reports the reason.
   */
  #recordingNow(): Recording | undefined {
    try {
      return this.recording;
    } catch {
      return undefined;
    }
  }
}

/** @throws the recorded error of the tool. */
function replayedResult({ tool, arguments: toolInput, result, error }: RecordedTool): ToolResult {
  if (error !== undefined) {
    const cause = restoreError(error);
    throw ExitEarlySignal.isInstance(cause)
      ? cause
      : new ToolExecutionError(cause.message, { toolName: tool, toolInput }, { cause });
  }
  return result?.ok === false
    ? ToolResult.failure(result.text)
    : ToolResult.success(result?.text ?? "", result?.structured, result && extraOf(result));
}
