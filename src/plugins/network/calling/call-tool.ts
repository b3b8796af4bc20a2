import { createHash } from "node:crypto";
import type { SharedCapability, WorkRequest, WorkResponse } from "../../../contracts/network.js";
import type { WorkCache } from "../../../contracts/network-options.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { AnyTool, ToolContext } from "../../../contracts/tool.js";
import type { NetworkCallInfo, NetworkCallOptions } from "./call-options.js";
import type { CallTarget } from "./call-target.js";
import type { CallEnd } from "./remote-call.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import { REQUEST_PATH } from "../shared/request-path.js";
import { Tokens } from "../../../contracts/tokens.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { messageOf } from "../../../util/errors.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { asFields, isObject } from "../../../util/objects.js";
import { describedInput } from "../../shared/described-input.js";
import { contentOfInput } from "./call-target.js";
import {
  capacityText,
  CONTINUING,
  deadlineText,
  isPartOfResult,
  partialResult,
  resultOfResponse,
  SUBMITTED,
  timeoutText,
} from "./call-result.js";
import { ForwardedReviews } from "./forwarded-reviews.js";
import { callRemote, cancelRemote } from "./remote-call.js";
import type { WorkGrant } from "./work-grant.js";
import { grantFor } from "./work-grant.js";

/** The input of a shared task or tool without a schema. */
const CONTEXT_SCHEMA: JsonSchema = Object.freeze({
  type: "object",
  properties: { context: { type: "string", description: "What to do, and with what" } },
  required: ["context"],
});

/** Maximum number of progress messages that are kept for a partial result. */
const MOST_PROGRESS = 100;

/** Creates the tool that sends requests to an ensemble. */
export function networkCallTool(
  target: CallTarget,
  capability: SharedCapability,
  options: NetworkCallOptions,
): AnyTool {
  const schema = isObject(capability.inputSchema) ? capability.inputSchema : CONTEXT_SCHEMA;
  return tool<unknown>({
    name: `${target.ensemble}__${capability.name}`,
    description: options.description ?? capability.description,
    input: describedInput(schema),
    delegates: true,
    untrusted: options.trusted !== true,
    effect: "send",
    resume: "again",
    execute: (input, ctx) => new ToolCall({ target, capability, options, input, ctx }).result(),
  });
}

interface CallParts {
  readonly target: CallTarget;
  readonly capability: SharedCapability;
  readonly options: NetworkCallOptions;
  readonly input: unknown;
  readonly ctx: ToolContext;
}

/** One call of the tool. */
class ToolCall {
  readonly #parts: CallParts;
  readonly #info: NetworkCallInfo;
  readonly #timeoutMs: number;
  readonly #progress: unknown[] = [];
  #reviews: ForwardedReviews | undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
    const { target, capability, input, ctx, options } = parts;
    const { ensemble } = target;
    const { name } = capability;
    const { runId, taskId } = ctx;
    const identity = canonicalJson([ctx.idempotencyKey, ensemble, name, input]);
    const requestId = createHash("sha256").update(identity).digest("hex");
    this.#info = { requestId, ensemble, name, runId, taskId };
    this.#timeoutMs = options.timeoutMs ?? target.timeoutMs;
  }

  /** Returns the result. Rejects only when the task of the caller ends. */
  async result(): Promise<ToolResult> {
    try {
      return await this.#requested();
    } catch (error) {
      if (this.#parts.ctx.signal.aborted) throw error;
      return ToolResult.failure(messageOf(error));
    }
  }

  async #requested(): Promise<ToolResult> {
    const { options, ctx } = this.#parts;
    const grant = await grantFor(ctx.scope, options.budget, this.#timeoutMs);
    const { mode = "AWAIT", deadlineMs = this.#timeoutMs } = options;
    if (mode === "ASYNC") return this.#untilBackground(grant);
    if (mode === "AWAIT") return this.#ended(grant, this.#timeoutMs);
    return options.onDeadline === "CONTINUE_IN_BACKGROUND"
      ? this.#untilBackground(grant, deadlineMs)
      : this.#ended(grant, deadlineMs);
  }

  /** Waits for the result. Cancels the request when the wait ends without a result. */
  async #ended(grant: WorkGrant, waitMs: number): Promise<ToolResult> {
    const { target, options, ctx } = this.#parts;
    const { signal } = ctx;
    const { requestId, ensemble } = this.#info;
    let response: WorkResponse | undefined = this.#nothing("REJECTED");
    try {
      if (options.reviews === "forward")
        this.#reviews = new ForwardedReviews({ remote: target.remote, requestId, ensemble, ctx });
      response = undefined;
      const end = await this.#call(grant, waitMs, signal);
      response = await this.#responseOf(end, waitMs);
      return this.#resultOf(end, waitMs);
    } catch (error) {
      if (signal.aborted) response = await this.#cancel("The caller was cancelled");
      throw error;
    } finally {
      this.#reviews?.end();
      await grant.settle(response);
    }
  }

  /**
   * Waits until the request continues in the background: after `deadlineMs`, or without it, when the
   * request is accepted.
   */
  async #untilBackground(grant: WorkGrant, deadlineMs?: number): Promise<ToolResult> {
    const { ctx, target } = this.#parts;
    const waiting = new AbortController();
    const stop = (): void => waiting.abort(ctx.signal.reason);
    ctx.signal.addEventListener("abort", stop, { once: true });
    if (ctx.signal.aborted) stop();
    const detach = (): void => ctx.signal.removeEventListener("abort", stop);
    const closing = AbortSignal.any([waiting.signal, target.closing]);
    let accept = (): void => undefined;
    const accepted = new Promise<undefined>((resolve) => (accept = () => resolve(undefined)));
    const ending = this.#call(grant, this.#timeoutMs, closing, accept);
    const begun =
      deadlineMs === undefined
        ? Promise.race([accepted, ending])
        : target.within(deadlineMs, ending);
    const first = await begun.catch(async (error: unknown) => {
      detach();
      const isOver = ctx.signal.aborted;
      await grant.settle(isOver ? await this.#cancel("The caller was cancelled") : undefined);
      throw error;
    });
    detach();
    if (first === undefined) {
      void this.#background(grant, ending);
      return this.#noted(deadlineMs === undefined ? SUBMITTED : CONTINUING);
    }
    await grant.settle(await this.#responseOf(first, this.#timeoutMs));
    return this.#resultOf(first, this.#timeoutMs);
  }

  /** Returns the response of an ended wait. Cancels a request that got no response in time. */
  async #responseOf(end: CallEnd, waitMs: number): Promise<WorkResponse | undefined> {
    if (end.kind === "response") return end.response;
    if (end.kind === "full") return this.#nothing("REJECTED");
    return this.#cancel(`The caller waited for ${waitMs} ms`);
  }

  /** Passes the result to `onComplete`. Never rejects. */
  async #background(grant: WorkGrant, ending: Promise<CallEnd>): Promise<void> {
    const { options, ctx } = this.#parts;
    try {
      const end = await ending;
      const response = end.kind === "response" ? end.response : this.#unanswered(end);
      await grant.settle(end.kind === "response" ? response : undefined);
      await options.onComplete?.(response, this.#info);
    } catch (error) {
      const { name, ensemble } = this.#info;
      ctx.scope.emit({
        type: "run_warning",
        message: `The result of '${name}' on ensemble '${ensemble}' was not processed: ${messageOf(error)}`,
      });
    }
  }

  #call(
    grant: WorkGrant,
    waitMs: number,
    signal: AbortSignal,
    onAccepted?: () => void,
  ): Promise<CallEnd> {
    const { target, options } = this.#parts;
    const { mode, onDeadline } = options;
    const isBounded = mode !== "ASYNC" && onDeadline !== "CONTINUE_IN_BACKGROUND";
    const deadlineMs = isBounded ? (options.deadlineMs ?? waitMs) : undefined;
    return callRemote({
      remote: target.remote,
      request: this.#request(grant, mode === "ASYNC" ? options.deadlineMs : deadlineMs),
      timeoutMs: waitMs,
      signal,
      clock: target.clock,
      onAccepted,
      ...((onDeadline === "RETURN_PARTIAL" || this.#reviews !== undefined) && {
        onProgress: (each) => this.#note(each),
      }),
    });
  }

  #note(progress: unknown): void {
    this.#reviews?.hear(progress);
    if (this.#progress.length < MOST_PROGRESS && isPartOfResult(progress))
      this.#progress.push(progress);
  }

  #request(grant: WorkGrant, deadlineMs: number | undefined): WorkRequest {
    const { target, capability, options, input, ctx } = this.#parts;
    const { run } = ctx.scope;
    const place = { run, taskId: ctx.taskId, toolCallId: ctx.toolCallId };
    const traceContext = ctx.scope.find(Tokens.TracePropagation)?.inject(place);
    const path = [...(run.find(REQUEST_PATH) ?? []), target.from];
    const cache = this.#cache();
    const { priority, version } = options;
    return {
      ...{ v: WORK_VERSION, requestId: this.#info.requestId },
      ...{ from: target.from, to: target.ensemble, type: capability.type, task: capability.name },
      ...contentOfInput(capability.type, asFields(input) ?? {}),
      path,
      ...(priority !== undefined && { priority }),
      ...(version !== undefined && { version }),
      ...(options.reviews === "forward" && { reviews: "forward" as const }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(grant.budget !== undefined && { budget: grant.budget }),
      ...(cache !== undefined && { cache }),
      ...(traceContext !== undefined && { traceContext }),
    };
  }

  #cache(): WorkCache | undefined {
    const { options, input } = this.#parts;
    if (options.cache === undefined) return undefined;
    const { key, maxAgeMs, forceFresh = false } = options.cache(input);
    return { policy: forceFresh ? "FORCE_FRESH" : "USE_CACHED", key, maxAgeMs };
  }

  #resultOf(end: CallEnd, waitMs: number): ToolResult {
    const { options, capability, target } = this.#parts;
    const { ensemble } = target;
    if (end.kind === "full") return ToolResult.failure(capacityText(ensemble));
    if (end.kind === "response" && end.response.reason !== "DEADLINE")
      return resultOfResponse(ensemble, end.response);
    const { mode, onDeadline, deadlineMs = waitMs } = options;
    if (mode === "AWAIT_WITH_DEADLINE" && onDeadline !== "CONTINUE_IN_BACKGROUND")
      return onDeadline === "RETURN_PARTIAL"
        ? partialResult(deadlineMs, this.#progress)
        : ToolResult.failure(deadlineText(deadlineMs));
    if (end.kind === "response") return resultOfResponse(ensemble, end.response);
    const isTool = capability.type === "TOOL";
    const text = timeoutText({ isTool, name: capability.name, ensemble, timeoutMs: waitMs });
    const why = end.lastError === undefined ? "" : `: ${end.lastError.message}`;
    return ToolResult.failure(`${text}${why}`);
  }

  #noted(text: string): ToolResult {
    return ToolResult.success(text, { status: "SUBMITTED", requestId: this.#info.requestId });
  }

  /** Returns a response without usage. */
  #nothing(status: "REJECTED" | "FAILED"): WorkResponse {
    return { v: WORK_VERSION, requestId: this.#info.requestId, status, durationMs: 0 };
  }

  /** Returns the response of a background request that received none. */
  #unanswered(end: Exclude<CallEnd, { readonly kind: "response" }>): WorkResponse {
    if (end.kind === "full") return { ...this.#nothing("REJECTED"), reason: "AT_CAPACITY" };
    const text = this.#resultOf(end, this.#timeoutMs).errorMessage;
    return { ...this.#nothing("FAILED"), reason: "DEADLINE", error: text };
  }

  /**
   * Cancels the request and returns its usage, if it is known soon. A request whose cancellation
   * fails ends at its deadline.
   */
  async #cancel(reason: string): Promise<WorkResponse | undefined> {
    try {
      return await cancelRemote(this.#parts.target, this.#info.requestId, reason);
    } catch (error) {
      if (!AgentEnsembleError.isInstance(error)) throw error;
      return undefined;
    }
  }
}
