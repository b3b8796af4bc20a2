import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
} from "../../../contracts/chat-model.js";
import type {
  After,
  LlmCall,
  Reject,
  Replace,
  TaskCall,
  ToolCallContext,
} from "../../../contracts/hooks.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { ToolResult } from "../../../contracts/tool-result.js";
import type { Detector, Finding, GuardReport, GuardReporting } from "./findings.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { guardrailRefusal } from "../../shared/guardrail-refusal.js";
import { changedToolResult } from "./changed-result.js";
import { findingsAfter, kindsOf, rememberingLast, replaceFindings } from "./findings.js";
import { reportTo } from "./guarded-tasks.js";
import { changedMessage, changedValue } from "./message-texts.js";
import { withReasoning } from "./reasoning.js";
import { filteredModel, SegmentFilter, type QuickRule } from "./stream-filter.js";

/** The rules of a guard that finds positions in texts. */
export interface MaskingRules {
  readonly name: string;
  readonly detect: Detector;
  /** The text that replaces a finding. */
  readonly mask: string;
  /** Returns the findings for a reason: `The output contains {found}`. */
  readonly found: (kinds: readonly string[]) => string;
  /** See `SegmentRules.holdFrom`, with words held back. Default: the last word is held. */
  readonly holdFrom?: (text: string, asked: number) => number;
  /** Number of characters before a word that `detect` needs to find a value in the word. */
  readonly context: number;
  /** Returns whether `detect` needs the context for these words. Default: always. */
  readonly needsContext?: (text: string, before: string) => boolean;
  /** Creates the rule `SegmentRules.quick` for a stream. */
  readonly quick?: (() => QuickRule) | undefined;
  /** Returns whether a finding can end in these words. Costs less than `detect`. */
  readonly isSuspect: (text: string) => boolean;
  /** Whether tool inputs with a finding are refused. */
  readonly toolInputs: boolean;
  /** Whether results of tools are masked. */
  readonly toolResults: boolean;
}

/** Masks or refuses findings in the texts of a run. */
class MaskingGuard {
  readonly #detect: Detector;
  /** Masked messages of failed tool calls. */
  readonly #failures = new WeakMap<ChatMessage, ChatMessage>();

  constructor(
    readonly options: GuardReporting & { readonly action?: "mask" | "refuse" | undefined },
    readonly rules: MaskingRules,
  ) {
    this.#detect = rememberingLast(rules.detect);
  }

  get masks(): boolean {
    return this.options.action !== "refuse";
  }

  /** Returns a function that masks texts and reports the findings. */
  #masker(
    call: Pick<TaskCall, "run" | "taskId">,
    place: GuardReport["place"],
  ): (text: string, before?: string) => string {
    return (text, before = "") => {
      const findings = findingsAfter(this.#detect, text, before);
      if (findings.length === 0) return text;
      this.#report(call, place, "masked", findings);
      return replaceFindings(text, findings, () => this.rules.mask);
    };
  }

  #report(
    call: Pick<TaskCall, "run" | "taskId">,
    place: GuardReport["place"],
    action: GuardReport["action"],
    findings: readonly Finding[],
  ): void {
    const guard = this.rules.name;
    reportTo(this.options, call, { guard, place, action, kinds: kindsOf(findings) });
  }

  /** Masks the stream, and the errors of tools in the request. */
  call(call: LlmCall): Replace<Pick<LlmCall, "model" | "request">> {
    return replace({
      model: this.#stream(call),
      request: this.rules.toolResults ? this.#withFailures(call) : call.request,
    });
  }

  /** Masks the errors that tools threw. Taps of tool calls can't change them. */
  #withFailures(call: LlmCall): ChatRequest {
    const { request } = call;
    const mask = this.#masker(call, "tool result");
    const messages = request.messages.map((message) => {
      if (message.role !== "tool" || message.isError !== true) return message;
      const masked = this.#failures.get(message) ?? changedMessage(message, mask);
      this.#failures.set(message, masked);
      return masked;
    });
    const isSame = messages.every((message, index) => message === request.messages[index]);
    return isSame ? request : { ...request, messages };
  }

  #stream({ model }: LlmCall): ChatModel {
    const { context, detect, holdFrom, quick, mask, isSuspect, needsContext } = this.rules;
    const release = (text: string, before: () => string): string | undefined => {
      if (!isSuspect(text)) return text;
      const earlier = context === 0 ? "" : before();
      const needed = needsContext?.(text, earlier) === false ? "" : earlier;
      const findings = findingsAfter(detect, text, needed);
      if (findings.length === 0) return text;
      return this.masks ? replaceFindings(text, findings, () => mask) : undefined;
    };
    const rules = { byWord: true, context, holdFrom, release };
    return filteredModel(model, () => new SegmentFilter({ ...rules, quick: quick?.() }));
  }

  /**
   * Masks the response, so that later requests and events do not contain the finding. With
   * `refuse`, masks only the reasoning. The output is judged at the end of the task.
   */
  response(
    call: After<LlmCall, "response", ChatResponse>,
  ): void | Replace<{ response: ChatResponse }> {
    if (call.response === undefined) return;
    const mask = this.#masker(call, "response");
    const response = withReasoning(call.response, mask);
    const { message } = response;
    const content = this.masks ? mask(message.content) : message.content;
    if (content !== message.content)
      return replace({ response: { ...response, message: { ...message, content } } });
    return response === call.response ? undefined : replace({ response });
  }

  output(
    call: After<TaskCall, "output", TaskOutput>,
  ): void | Replace<Partial<Pick<TaskOutput, "raw" | "parsed">>> {
    if (call.output === undefined) return;
    const { raw, parsed } = call.output;
    const mask = this.#masker(call, "output");
    const text = mask(raw);
    const value = changedValue(parsed, mask);
    if (text === raw && value === parsed) return;
    return replace({ raw: text, ...(parsed !== undefined && { parsed: value }) });
  }

  judgeOutput(call: After<TaskCall, "output", TaskOutput>): void | Reject {
    const findings = this.#detect(call.output?.raw ?? "");
    if (findings.length === 0) return;
    this.#report(call, "output", "refused", findings);
    const reason = `the output contains ${this.rules.found(kindsOf(findings))}`;
    return guardrailRefusal("OUTPUT", call, { reason }, this.rules.name);
  }

  judgeInput(call: ToolCallContext): void | Reject {
    const findings = this.#detect(JSON.stringify(call.input) ?? "");
    if (findings.length === 0) return;
    this.#report(call, "tool input", "refused", findings);
    const found = this.rules.found(kindsOf(findings));
    return reject(`The input of tool '${call.tool.name}' contains ${found}`);
  }

  result(
    call: After<ToolCallContext, "result", ToolResult>,
  ): void | Replace<{ result: ToolResult }> {
    if (call.result === undefined) return;
    const result = changedToolResult(call.result, this.#masker(call, "tool result"));
    return result === call.result ? undefined : replace({ result });
  }
}

/**
 * Returns the plugin of a guard that masks or refuses findings in outputs, streams, and inputs and
 * results of tools.
 */
export function maskingGuard(
  options: GuardReporting & { readonly action?: "mask" | "refuse" | undefined },
  rules: MaskingRules,
): Plugin {
  const guard = new MaskingGuard(options, rules);
  const tap = { name: rules.name };
  return definePlugin({
    name: rules.name,
    apply({ hooks }) {
      hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) => guard.call(call));
      hooks.afterTask.tap({ ...tap, lane: "policy" }, (call) => guard.judgeOutput(call));
      if (rules.toolInputs)
        hooks.beforeToolCall.tap({ ...tap, lane: "policy" }, (call) => guard.judgeInput(call));
      if (rules.toolResults)
        hooks.afterToolCall.tap({ ...tap, lane: "transform" }, (call) => guard.result(call));
      hooks.afterLlmCall.tap({ ...tap, lane: "transform" }, (call) => guard.response(call));
      if (!guard.masks) return;
      hooks.afterTask.tap({ ...tap, lane: "transform" }, (call) => guard.output(call));
    },
  });
}
