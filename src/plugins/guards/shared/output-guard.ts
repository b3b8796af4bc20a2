import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { After, LlmCall, Reject, Replace, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { GuardReport, GuardReporting } from "./findings.js";
import { reject, replace, type EnsembleHooks } from "../../../contracts/hooks.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { inputText } from "../../../contracts/template.js";
import { guardrailRefusal } from "../../shared/guardrail-refusal.js";
import { checkGuardOptions, GuardedTasks, reportTo, requireTextList } from "./guarded-tasks.js";
import { withReasoning } from "./reasoning.js";
import { filteredModel, type StreamFilter, WholeFilter } from "./stream-filter.js";

/** Options of the guards of outputs. */
export interface OutputGuardOptions extends GuardReporting {
  /** Ids of the tasks to which the guard applies. Default: all tasks. */
  readonly tasks?: readonly string[] | undefined;
}

/** Options of the guards of outputs and inputs. */
export interface TextGuardOptions extends OutputGuardOptions {
  /** Names of inputs of the run that are judged before the first task. Default: none. */
  readonly inputs?: readonly string[] | undefined;
}

/** The task whose text is judged. */
export interface JudgedPlace {
  readonly run: HookRun;
  readonly taskId: string;
  readonly task: TaskCall | undefined;
  readonly signal: AbortSignal;
}

/** The reason of a refusal. */
export interface OutputProblem {
  readonly kind: string;
  readonly reason: string;
}

/** The rules of a guard of outputs. */
export interface OutputRules {
  readonly name: string;
  /** Returns the reason why the text is refused. */
  judge(text: string, place: JudgedPlace): Awaitable<OutputProblem | undefined>;
  /** Returns the filter of a stream. Default: the complete text is held until it is judged. */
  filter?(place: JudgedPlace): StreamFilter;
  /** Whether inputs of tools are also judged. */
  readonly toolInputs?: boolean;
  /**
   * Whether reasoning is removed from responses, because it is not judged. Texts before tool calls
   * are then judged.
   */
  readonly hidesReasoning?: boolean;
  /** Further taps, before those of the guard. */
  apply?(hooks: EnsembleHooks): void;
  start?(): Awaitable<void>;
}

/** Checks the options that these guards share. @throws ValidationError */
export function checkOutputOptions(
  what: string,
  options: TextGuardOptions,
  known: readonly string[],
): void {
  checkGuardOptions(what, options, ["tasks", ...known]);
  requireTextList(`${what} tasks`, options.tasks);
  requireTextList(`${what} inputs`, options.inputs);
}

class OutputGuard {
  readonly tasks = new GuardedTasks();
  readonly #judgedInputs = new WeakSet<HookRun>();

  constructor(
    readonly options: TextGuardOptions,
    readonly rules: OutputRules,
  ) {}

  #applies(taskId: string): boolean {
    return this.options.tasks?.includes(taskId) ?? true;
  }

  placeOf(call: Pick<LlmCall, "run" | "taskId" | "signal">): JudgedPlace {
    const { run, taskId, signal } = call;
    return { run, taskId, signal, task: this.tasks.find(call) };
  }

  stream(call: LlmCall): void | Replace<Pick<LlmCall, "model">> {
    if (!this.#applies(call.taskId) || call.purpose === "judge") return;
    const place = this.placeOf(call);
    const accepts = async (text: string): Promise<boolean> =>
      text.trim() === "" || (await this.rules.judge(text, place)) === undefined;
    return replace({
      model: filteredModel(
        call.model,
        () => this.rules.filter?.(place) ?? new WholeFilter(accepts),
      ),
    });
  }

  /** Removes the reasoning, and a refused text before tool calls. Pages and threads show both. */
  async response(
    call: After<LlmCall, "response", ChatResponse>,
  ): Promise<void | Replace<{ response: ChatResponse }>> {
    if (call.response === undefined || !this.#applies(call.taskId)) return;
    const response = withReasoning(call.response, () => "");
    const { message } = response;
    if ((message.toolCalls?.length ?? 0) > 0 && message.content.trim() !== "") {
      const problem = await this.rules.judge(message.content, this.placeOf(call));
      if (problem !== undefined) {
        this.report(call, "response", problem, "removed");
        return replace({ response: { ...response, message: { ...message, content: "" } } });
      }
    }
    return response === call.response ? undefined : replace({ response });
  }

  async judgeOutput(call: After<TaskCall, "output", TaskOutput>): Promise<void | Reject> {
    if (call.output === undefined || !this.#applies(call.taskId)) return;
    const problem = await this.rules.judge(call.output.raw, { ...this.placeOf(call), task: call });
    if (problem === undefined) return;
    this.report(call, "output", problem);
    return guardrailRefusal("OUTPUT", call, problem, this.rules.name);
  }

  /** Judges the inputs of the run once, before its first task. */
  async judgeInputs(call: TaskCall): Promise<void | Reject> {
    if (this.#judgedInputs.has(call.run)) return;
    for (const name of this.options.inputs ?? []) {
      const value = call.run.inputs[name];
      if (value === undefined || value === null) continue;
      const problem = await this.rules.judge(inputText(name, value), this.placeOf(call));
      if (problem === undefined) continue;
      this.report(call, "request", problem);
      const reason = `input '${name}': ${problem.reason}`;
      return guardrailRefusal("INPUT", call, { reason }, this.rules.name);
    }
    this.#judgedInputs.add(call.run);
  }

  report(
    call: Pick<TaskCall, "run" | "taskId">,
    place: GuardReport["place"],
    { kind }: OutputProblem,
    action: GuardReport["action"] = "refused",
  ): void {
    const { name: guard } = this.rules;
    reportTo(this.options, call, { guard, place, action, kinds: [kind] });
  }
}

/**
 * Returns the plugin of a guard that judges outputs. The guard refuses outputs and holds back
 * streams.
 */
export function outputGuard(options: TextGuardOptions, rules: OutputRules): Plugin {
  const guard = new OutputGuard(options, rules);
  const tap = { name: rules.name };
  return definePlugin({
    name: rules.name,
    apply({ hooks }) {
      guard.tasks.follow(hooks, rules.name);
      rules.apply?.(hooks);
      if (options.inputs !== undefined)
        hooks.beforeTask.tap({ ...tap, lane: "policy" }, (call) => guard.judgeInputs(call));
      hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) => guard.stream(call));
      hooks.afterTask.tap({ ...tap, lane: "policy" }, (call) => guard.judgeOutput(call));
      if (rules.hidesReasoning === true)
        hooks.afterLlmCall.tap({ ...tap, lane: "transform" }, (call) => guard.response(call));
      if (rules.toolInputs === true)
        hooks.beforeToolCall.tap({ ...tap, lane: "policy" }, async (call) => {
          const text = JSON.stringify(call.input) ?? "";
          const problem = await rules.judge(text, guard.placeOf(call));
          if (problem === undefined) return undefined;
          guard.report(call, "tool input", problem);
          return reject(`The input of tool '${call.tool.name}' was refused: ${problem.reason}`);
        });
    },
    ...(rules.start !== undefined && { start: () => rules.start?.() }),
  });
}
