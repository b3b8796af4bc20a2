import type { Plugin } from "../../contracts/plugin.js";
import { RunCancelledError, ToolExecutionError } from "../../contracts/errors.js";
import { replace } from "../../contracts/hooks.js";
import { definePlugin } from "../../contracts/plugin.js";
import { ReviewDecision } from "../../contracts/review.js";
import { Tokens } from "../../contracts/tokens.js";
import { checkChaosOptions, type ChaosOptions } from "./chaos-options.js";
import { FaultPlan, type InjectedFault } from "./fault-plan.js";
import { faultyModel } from "./faulty-model.js";

export type { ChaosFault, ChaosFaultKind, ChaosOptions } from "./chaos-options.js";
export type { InjectedFault } from "./fault-plan.js";

/** The plugin of {@link chaos}, with a record of the injected faults. */
export interface Chaos extends Plugin {
  /** The faults injected so far, in order. */
  readonly injected: readonly InjectedFault[];
  /**
   * How often each model call was answered and each tool call succeeded, by run and step. A number
   * above 1 means that the step was executed and paid more than once.
   */
  readonly paid: ReadonlyMap<string, number>;
}

/**
 * Injects faults into the runs of an ensemble by a seeded plan. The faults: vendor errors, delays,
 * cut streams, answers with invalid JSON, tool failures, denied reviews, and the loss of the
 * process. Intended for rehearsals. Retries, fallbacks, budgets and reviews react as to real
 * faults. With the fault `denied review`, the plugin answers all reviews itself, so leave
 * `reviewHandler` unset.
 *
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function chaos(options: ChaosOptions): Chaos {
  checkChaosOptions(options);
  const plan = new FaultPlan(options);
  const paid = new Map<string, number>();
  const pay = (step: string): void => void paid.set(step, (paid.get(step) ?? 0) + 1);
  const has = (kind: string): boolean => options.faults.some((fault) => fault.kind === kind);
  const tap = { name: "chaos" };
  return definePlugin({
    name: "chaos",
    injected: plan.injected,
    paid,
    bind(bind) {
      if (has("denied review"))
        bind
          .single(Tokens.ReviewHandler, { override: true })
          .toConstantValue(({ runId, reviewId }) =>
            plan.draw("denied review", { id: runId }, `review ${reviewId.replace(runId, "")}`) ===
            undefined
              ? ReviewDecision.continue({ by: "chaos" })
              : ReviewDecision.exitEarly({ by: "chaos", comment: "Rehearsed refusal" }),
          );
    },
    apply({ hooks }) {
      hooks.beforeTask.tap({ ...tap, lane: "transform", order: "pre" }, (call) => {
        const { run, identity, attempt } = call;
        if (plan.draw("lost worker", run, `${identity}@${attempt}`) !== undefined)
          run.cancel(
            new RunCancelledError("Rehearsed failure: the process was lost", { isShutdown: true }),
          );
      });
      hooks.beforeLlmCall.tap({ ...tap, lane: "transform" }, (call) => {
        const { run, taskId, taskAttempt, iteration } = call;
        const answered = (): void => pay(`${run.id}/${taskId}@${taskAttempt} call ${iteration}`);
        return replace({ model: faultyModel(call, plan, answered) });
      });
      hooks.beforeToolCall.tap({ ...tap, lane: "answer", order: "post" }, (call) => {
        const { run, idempotencyKey, tool } = call;
        const step = idempotencyKey.slice(run.id.length + 1);
        if (plan.draw("tool failure", run, step) === undefined) return undefined;
        throw new ToolExecutionError(
          `Tool '${tool.name}' failed: rehearsed failure`,
          { toolName: tool.name, toolInput: call.call.arguments },
          { cause: new Error("rehearsed failure of the tool") },
        );
      });
      hooks.afterToolCall.tap({ ...tap, lane: "commit" }, ({ idempotencyKey, result }) => {
        if (result?.ok === true) pay(`tool ${idempotencyKey}`);
      });
    },
  });
}
