// Reviews of outputs as a plugin of another package would have them.
import type { Plugin, ReviewDecision, ReviewRequest, TaskCall } from "agentensemble";
import { definePlugin, ExitEarlySignal, replace, Tokens } from "agentensemble";

const LIMIT_MS = 60_000;

/** Asks the run's handler, and emits the events that tell of it. */
async function ask(call: TaskCall, taskOutput: string): Promise<ReviewDecision> {
  const { run, task, taskId, agent, signal } = call;
  const handler = run.get(Tokens.ReviewHandler);
  const reviewId = run.get(Tokens.IdGenerator).next("run");
  const clock = run.get(Tokens.Clock);
  const startedMs = clock.monotonicMs();
  const place = { taskId, agentRole: agent?.role ?? "(deterministic)" };
  const request: ReviewRequest = {
    ...place,
    reviewId,
    runId: run.id,
    taskDescription: task.description,
    taskOutput,
    timing: "AFTER_EXECUTION",
    requestedAt: clock.now().toISOString(),
    timeoutMs: LIMIT_MS,
    onTimeout: "EXIT_EARLY",
    signal,
  };
  const { runId: _run, signal: _signal, ...told } = request;
  run.emit({ type: "review_requested", ...told });
  const decision = await handler(request);
  const durationMs = clock.monotonicMs() - startedMs;
  run.emit({
    type: "review_resolved",
    ...place,
    reviewId,
    decision: decision.type,
    timedOut: false,
    durationMs,
  });
  return decision;
}

/** Takes the place of the standard plugin of this name: asks about every output of a task that requires it. */
export function review(): Plugin {
  return definePlugin({
    name: "review",
    apply({ hooks }) {
      hooks.afterTask.tap({ name: "review", lane: "review" }, async (call) => {
        if (call.outcome !== "ok" || call.task.review?.mode !== "REQUIRED") return undefined;
        if (call.run.find(Tokens.ReviewHandler) === undefined) {
          call.run.warn(`Task '${call.task.description}' goes on without its review`);
          return undefined;
        }
        const decision = await ask(call, call.output.raw);
        if (decision.type === "EXIT_EARLY") throw new ExitEarlySignal("The reviewer ended the run");
        return decision.type === "EDIT"
          ? replace({ raw: decision.revisedOutput ?? "" })
          : undefined;
      });
    },
  });
}
