import type { After, LlmCall, Reject, Replace, TaskCall } from "../../../contracts/hooks.js";
import type { ChatModel, ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { TaskOutput } from "../../../contracts/output.js";
import { ValidationError } from "../../../contracts/errors.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { preview } from "../../../contracts/validation.js";
import { definePlugin } from "../../../contracts/plugin.js";
import type { ToolResult } from "../../../contracts/tool-result.js";
import type { Detector, Finding, GuardReport } from "../shared/findings.js";
import { guardrailRefusal } from "../../shared/guardrail-refusal.js";
import { decodedJson, findingsIn } from "../shared/escapes.js";
import { findingsAfter, kindsOf, rememberingLast } from "../shared/findings.js";
import { changedToolResult } from "../shared/changed-result.js";
import { GuardedTasks, reportTo } from "../shared/guarded-tasks.js";
import { changedValue } from "../shared/message-texts.js";
import { withReasoning } from "../shared/reasoning.js";
import { filteredModel, SegmentFilter, type SegmentRules } from "../shared/stream-filter.js";
import {
  checkPersonalDataOptions,
  PERSONAL_KINDS,
  type PersonalDataOptions,
} from "./personal-data-options.js";
import { endOfSentences, PersonalDetector, WORD_BEFORE } from "./personal-detector.js";
import { outermostRun, Placeholders } from "./placeholders.js";

export type { PersonalDataKind, PersonalDataOptions } from "./personal-data-options.js";

const NAME = "guards-personal-data";

/** @throws ValidationError if the detector returns no array, for example a promise. */
function foundBy(detect: Detector, text: string): readonly Finding[] {
  const found: unknown = detect(text);
  if (!Array.isArray(found))
    throw new ValidationError(
      `A detector of personalData must return an array of findings, got: ${preview(found)}`,
    );
  return found as readonly Finding[]; // elements of the caller's type
}

class PersonalDataGuard {
  readonly tasks = new GuardedTasks();
  readonly #runs = new WeakMap<HookRun, Placeholders>();
  #detector: PersonalDetector | undefined;

  constructor(readonly options: PersonalDataOptions) {}

  async load(): Promise<void> {
    const { kinds = PERSONAL_KINDS, countries, phoneRegions = [] } = this.options;
    const numbers = await import("./numbers-vendor.js");
    this.#detector = new PersonalDetector(numbers, {
      kinds: new Set(kinds),
      countries,
      phoneRegions,
    });
  }

  readonly detect = rememberingLast((text) => {
    if (this.#detector === undefined) throw new ValidationError(`Plugin '${NAME}' was not started`);
    const decoded = decodedJson(text);
    const { detect: find } = this.#detector;
    const found = decoded === undefined ? find(text) : findingsIn(find, decoded);
    const { detectors = [] } = this.options;
    return detectors.length === 0
      ? found
      : [...found, ...detectors.flatMap((detect) => foundBy(detect, text))];
  });

  get masks(): boolean {
    return this.options.action !== "refuse";
  }

  get restores(): boolean {
    return this.options.restore ?? true;
  }

  of(call: Pick<TaskCall, "run" | "taskId">): Placeholders {
    const run = outermostRun(call.run);
    let placeholders = this.#runs.get(run);
    if (placeholders === undefined) {
      placeholders = new Placeholders(this.options.key ?? run.id, this.detect, (findings) =>
        this.masks ? this.report(call, "request", "masked", findings) : undefined,
      );
      this.#runs.set(run, placeholders);
    }
    return placeholders;
  }

  report(
    call: Pick<TaskCall, "run" | "taskId">,
    place: GuardReport["place"],
    action: GuardReport["action"],
    findings: readonly Finding[],
  ): void {
    if (findings.length > 0)
      reportTo(this.options, call, { guard: NAME, place, action, kinds: kindsOf(findings) });
  }

  /** Masks the request, and restores the values in the stream. */
  request(call: LlmCall): { readonly request: ChatRequest; readonly model: ChatModel } {
    const placeholders = this.of(call);
    const messages = placeholders.messages.apply(call.request.messages);
    const request =
      messages === call.request.messages ? call.request : { ...call.request, messages };
    return { request, model: this.stream(call) };
  }

  /**
   * Returns the model with a filter for its stream. Restores the original values. If values are not
   * restored, personal data in the response is masked or ends the stream.
   */
  stream(call: LlmCall): ChatModel {
    const placeholders = this.of(call);
    const rules: SegmentRules =
      this.masks && this.restores
        ? {
            holdFrom: (text) => placeholders.holdFrom(text),
            release: (text) => placeholders.restore(text),
          }
        : {
            context: WORD_BEFORE,
            holdFrom: endOfSentences,
            release: (text, before) => {
              const findings = findingsAfter(this.detect, text, before());
              if (findings.length === 0) return text;
              return this.masks ? placeholders.mask(text, findings) : undefined;
            },
          };
    return filteredModel(call.model, () => new SegmentFilter(rules));
  }

  /**
   * Refuses a request that still contains personal data. With `refuse`, requests are not masked.
   * With `mask`, the data was added after the masking.
   */
  judgeRequest(call: LlmCall): void | Reject {
    const { messages } = call.request;
    const masked = this.of(call).messages.apply(messages);
    if (masked === messages) return;
    const found = messages.filter((message, index) => message !== masked[index]);
    const kinds = kindsOf(found.flatMap((message) => this.detect(JSON.stringify(message))));
    reportTo(this.options, call, { guard: NAME, place: "request", action: "refused", kinds });
    const reason = `the request contains personal data: ${kinds.join(", ")}`;
    const task = this.tasks.find(call);
    return task === undefined ? reject(reason) : guardrailRefusal("INPUT", task, { reason }, NAME);
  }

  /** Masks the reasoning, which the model may have written with personal data. */
  response(
    call: After<LlmCall, "response", ChatResponse>,
  ): void | Replace<{ response: ChatResponse }> {
    if (call.response === undefined) return;
    const response = withReasoning(call.response, (text) => {
      const findings = this.detect(text);
      this.report(call, "response", "masked", findings);
      return this.of(call).mask(text, findings);
    });
    return response === call.response ? undefined : replace({ response });
  }

  output(
    call: After<TaskCall, "output", TaskOutput>,
  ): { raw: string; parsed?: unknown } | undefined {
    if (call.output === undefined) return undefined;
    const { raw, parsed } = call.output;
    const change = this.#outputChange(call);
    const text = change(raw);
    if (text === raw) return undefined;
    return parsed === undefined || typeof parsed === "string"
      ? { raw: text }
      : { raw: text, parsed: changedValue(parsed, change) };
  }

  #outputChange(call: TaskCall): (text: string) => string {
    const placeholders = this.of(call);
    return this.restores
      ? (text) => placeholders.restore(text)
      : (text) => {
          const findings = this.detect(text);
          this.report(call, "output", "masked", findings);
          return placeholders.mask(text, findings);
        };
  }

  judgeOutput(call: After<TaskCall, "output", TaskOutput>): void | Reject {
    if (this.masks && this.restores) return;
    const findings = this.detect(call.output?.raw ?? "");
    if (findings.length === 0) return;
    this.report(call, "output", "refused", findings);
    const reason = `the output contains personal data: ${kindsOf(findings).join(", ")}`;
    return guardrailRefusal("OUTPUT", call, { reason }, NAME);
  }
}

/**
 * Keeps personal data from models: mail addresses, phone numbers, payment cards, IBANs and identity
 * numbers with valid check digits. Models receive placeholders such as `[EMAIL_K7QPXMA]`. Tools,
 * outputs and streams receive the original values. Names and postal addresses are not found. Add a
 * detector to find them.
 *
 * @throws ValidationError for an unknown option or an invalid value.
 */
export function personalData(options: PersonalDataOptions = {}): Plugin {
  checkPersonalDataOptions(options);
  const guard = new PersonalDataGuard(options);
  const tap = { name: NAME };
  return definePlugin({
    name: NAME,
    apply({ hooks }) {
      guard.tasks.follow(hooks, NAME);
      hooks.beforeLlmCall.tap({ ...tap, lane: "policy" }, (call) => guard.judgeRequest(call));
      hooks.afterTask.tap({ ...tap, lane: "policy" }, (call) => guard.judgeOutput(call));
      if (!guard.masks || !guard.restores)
        hooks.afterLlmCall.tap({ ...tap, lane: "transform" }, (call) => guard.response(call));
      if (!guard.masks) {
        hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) =>
          replace({ model: guard.stream(call) }),
        );
        return;
      }
      hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) =>
        replace(guard.request(call)),
      );
      hooks.afterTask.tap({ ...tap, lane: "transform" }, (call) => {
        const changed = guard.output(call);
        return changed === undefined ? undefined : replace(changed);
      });
      if (guard.restores)
        hooks.beforeToolCall.tap({ ...tap, lane: "transform" }, (call) => {
          const input = changedValue(call.input, (text) => guard.of(call).restore(text));
          return input === call.input ? undefined : replace({ input });
        });
      else
        hooks.afterToolCall.tap({ ...tap, lane: "transform" }, (call) => {
          if (call.result === undefined) return undefined;
          const result = changedToolResult(call.result, (text) => {
            const findings = guard.detect(text);
            guard.report(call, "tool result", "masked", findings);
            return guard.of(call).mask(text, findings);
          });
          return result === call.result ? undefined : replace<{ result: ToolResult }>({ result });
        });
    },
    start: () => guard.load(),
  });
}
