// Guardrails as a plugin of another package would have them.
import type { After, Plugin, Reject, Task, TaskCall, TaskOutput } from "agentensemble";
import { contextOutput, definePlugin, GuardrailViolationError, reject } from "agentensemble";

type Judge = (signal: AbortSignal) => unknown;

const LIMIT_MS = 30_000;

/** Why a guardrail refuses; `undefined` where it does not. Anything but a clear yes is a no. */
async function problemOf(judge: Judge, taskSignal: AbortSignal): Promise<string | undefined> {
  const signal = AbortSignal.any([taskSignal, AbortSignal.timeout(LIMIT_MS)]);
  const late = new Promise<never>((_, fail) =>
    signal.addEventListener("abort", () => fail(signal.reason as Error), { once: true }),
  );
  try {
    const verdict: unknown = await Promise.race([judge(signal), late]);
    if (verdict === true) return undefined;
    const { ok, reason } = (verdict ?? {}) as { readonly ok?: unknown; readonly reason?: unknown };
    return ok === true ? undefined : typeof reason === "string" ? reason : "no verdict";
  } catch (error) {
    taskSignal.throwIfAborted();
    return String(error);
  }
}

async function firstRefusal(
  type: "INPUT" | "OUTPUT",
  call: TaskCall,
  guardrails: readonly { readonly name: string; readonly judge: Judge }[],
): Promise<Reject | undefined> {
  const { run, task, agent, signal } = call;
  for (const { name, judge } of guardrails) {
    const problem = await problemOf(judge, signal);
    if (problem === undefined) continue;
    run.emit({
      type: "guardrail_refused",
      taskId: call.taskId,
      agentRole: agent?.role ?? "(deterministic)",
      kind: type,
      message: problem,
      attempt: call.attempt,
      retriesLeft: type === "INPUT" ? 0 : (call.retriesLeft ?? 0),
    });
    return reject(
      new GuardrailViolationError({
        type,
        violationMessage: problem,
        taskDescription: task.description,
        agentRole: agent?.role ?? "(deterministic)",
        guardrailName: name === "" ? undefined : name,
      }),
    );
  }
  return undefined;
}

function factsOf({ task, agent, contextOutputs }: TaskCall) {
  return {
    taskDescription: task.description,
    agentRole: agent?.role ?? "(deterministic)",
    contextOutputs,
    getOutput: <U>(wanted: Task<U>): TaskOutput<U> => contextOutput(contextOutputs, wanted),
  };
}

function judgeOutput(call: After<TaskCall, "output", TaskOutput>): Promise<Reject | undefined> {
  const judges = call.task.outputGuardrails.map((guardrail) => ({
    name: guardrail.name,
    judge: (signal: AbortSignal) =>
      guardrail({
        ...factsOf(call),
        raw: call.output?.raw ?? "",
        parsed: call.output?.parsed as never,
        signal,
      }),
  }));
  return firstRefusal("OUTPUT", call, judges);
}

/** Takes the place of the standard plugin of this name. */
export function guardrails(): Plugin {
  return definePlugin({
    name: "guardrails",
    apply({ hooks }) {
      hooks.beforeTask.tap({ name: "inputs", lane: "policy" }, (call) => {
        const { expectedOutput } = call.task;
        const judges = call.task.inputGuardrails.map((guardrail) => ({
          name: guardrail.name,
          judge: (signal: AbortSignal) => guardrail({ ...factsOf(call), expectedOutput, signal }),
        }));
        return firstRefusal("INPUT", call, judges);
      });
      hooks.afterTask.tap({ name: "outputs", lane: "policy" }, judgeOutput);
    },
  });
}
