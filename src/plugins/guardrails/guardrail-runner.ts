import type { InputGuardrail, OutputGuardrail } from "../../contracts/guardrail.js";
import type { After, Reject, TaskCall } from "../../contracts/hooks.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { Awaitable } from "../../contracts/types.js";
import type { RefusalReason } from "../shared/guardrail-refusal.js";
import { contextOutput } from "../../contracts/output.js";
import { checkOptions, requireDuration } from "../../contracts/validation.js";
import { guardedRole, guardrailRefusal } from "../shared/guardrail-refusal.js";
import { askGuardrail } from "./verdict.js";

/** Options of {@link guardrails}. */
export interface GuardrailsOptions {
  /**
   * The time limit of each guardrail, in milliseconds. A guardrail that exceeds it refuses the
   * task. Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Runs the guardrails of a task in order. The first refusal ends the sequence. */
export class GuardrailRunner {
  readonly #timeoutMs: number;

  constructor(options: GuardrailsOptions) {
    checkOptions("guardrails", options, ["timeoutMs"]);
    requireDuration("guardrails timeoutMs", options.timeoutMs);
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** Applies the input guardrails before the task is executed. */
  judgeInput(call: TaskCall): Awaitable<void | Reject> {
    return call.task.inputGuardrails.length === 0
      ? undefined
      : this.#runInput(call, call.task.inputGuardrails);
  }

  /**
   * Applies the output guardrails to the output of a task that was executed or answered by a
   * plugin.
   */
  judgeOutput(call: After<TaskCall, "output", TaskOutput>): Awaitable<void | Reject> {
    if (call.task.outputGuardrails.length === 0) return undefined;
    return call.outcome === "ok" || call.outcome === "answered"
      ? this.#runOutput(call, call.output, call.task.outputGuardrails)
      : undefined;
  }

  async #runInput(call: TaskCall, guardrails: readonly InputGuardrail[]): Promise<void | Reject> {
    const { description: taskDescription, expectedOutput } = call.task;
    const { contextOutputs } = call;
    const getOutput: Parameters<InputGuardrail>[0]["getOutput"] = (task) =>
      contextOutput(contextOutputs, task);
    for (const guardrail of guardrails) {
      const verdict = await askGuardrail(this.#timeoutMs, call.signal, (signal) =>
        guardrail({
          taskDescription,
          expectedOutput,
          contextOutputs,
          agentRole: guardedRole(call),
          run: call.run,
          signal,
          getOutput,
        }),
      );
      if (verdict !== undefined) return violation("INPUT", call, verdict, guardrail);
    }
  }

  async #runOutput(
    call: TaskCall,
    output: TaskOutput,
    guardrails: readonly OutputGuardrail<never>[],
  ): Promise<void | Reject> {
    for (const guardrail of guardrails as readonly OutputGuardrail[]) {
      // the type of `parsed` is the type of the task
      const { raw, parsed } = output;
      const { contextOutputs } = call;
      const verdict = await askGuardrail(this.#timeoutMs, call.signal, (signal) =>
        guardrail({
          raw,
          parsed,
          taskDescription: call.task.description,
          agentRole: output.agentRole,
          contextOutputs,
          run: call.run,
          signal,
          getOutput: (task) => contextOutput(contextOutputs, task),
        }),
      );
      if (verdict !== undefined) return violation("OUTPUT", call, verdict, guardrail);
    }
  }
}

function violation(
  type: "INPUT" | "OUTPUT",
  call: TaskCall,
  verdict: RefusalReason,
  guardrail: { readonly name: string },
): Reject {
  return guardrailRefusal(type, call, verdict, guardrail.name === "" ? undefined : guardrail.name);
}
