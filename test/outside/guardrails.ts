// Guardrails in the form of a plugin of another package.
import type { After, Plugin, Reject, Task, TaskCall, TaskOutput } from "agentensemble";
import { contextOutput, definePlugin, GuardrailViolationError, reject } from "agentensemble";

interface Judge {
  readonly name: string;
  readonly ask: (signal: AbortSignal) => unknown;
}

/** The reason of a refusal, and the thrown error if it is the reason. */
interface Refusal {
  readonly reason: string;
  readonly cause?: unknown;
}

/**
 * Every answer except a success is a refusal. A guardrail without a verdict reports its problem.
 */
async function refusalOf({ ask }: Judge, signal: AbortSignal): Promise<Refusal | undefined> {
  try {
    const verdict: unknown = await ask(signal);
    const { ok, reason } = Object(verdict) as { readonly ok?: unknown; readonly reason?: unknown };
    if (verdict === true || ok === true) return undefined;
    if (verdict === false) return { reason: "the guardrail returned no reason" };
    if (ok === false)
      return { reason: typeof reason === "string" ? reason : "the guardrail returned no reason" };
    const form = "it must return true, false, { ok: true } or { ok: false, reason }";
    return { reason: `the guardrail returned ${JSON.stringify(verdict)}; ${form}` };
  } catch (cause) {
    return { reason: `the guardrail threw: ${(cause as Error).message}`, cause };
  }
}

/** As {@link refusalOf}, within a time. The guardrail's signal ends with the task and at the limit. */
async function judged(
  judge: Judge,
  limitMs: number,
  ended: AbortSignal,
): Promise<Refusal | undefined> {
  ended.throwIfAborted();
  const done = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const interrupted = new Promise<Refusal>((resolve, fail) => {
    const reason = `the guardrail did not decide within ${limitMs} ms`;
    timer = setTimeout(() => resolve({ reason }), limitMs);
    ended.addEventListener("abort", () => fail(ended.reason as Error), { signal: done.signal });
  });
  try {
    return await Promise.race([refusalOf(judge, done.signal), interrupted]);
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}

function refuse(
  kind: "INPUT" | "OUTPUT",
  { run, taskId, parentTaskId, task, agent, attempt, retriesLeft = 0 }: TaskCall,
  { name }: Judge,
  { reason, ...details }: Refusal,
): Reject {
  const agentRole = agent?.role ?? "(deterministic)";
  const guardrailName = name === "" ? undefined : name;
  run.emit({
    type: "guardrail_refused",
    taskId,
    agentRole,
    kind,
    message: reason,
    attempt,
    retriesLeft: kind === "INPUT" ? 0 : retriesLeft,
    ...(parentTaskId !== undefined && { parentTaskId }),
    ...(guardrailName !== undefined && { guardrailName }),
  });
  const taskDescription = task.description;
  return reject(
    new GuardrailViolationError(
      { type: kind, violationMessage: reason, taskDescription, agentRole, guardrailName },
      details,
    ),
  );
}

function factsOf({ task, agent, contextOutputs, run }: TaskCall) {
  return {
    run,
    taskDescription: task.description,
    agentRole: agent?.role ?? "(deterministic)",
    contextOutputs,
    getOutput: <U>(wanted: Task<U>): TaskOutput<U> => contextOutput(contextOutputs, wanted),
  };
}

/** Replaces the standard plugin of this name. `timeoutMs`: time for each guardrail. */
export function guardrails({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Plugin {
  const judgeAll = async (
    kind: "INPUT" | "OUTPUT",
    call: TaskCall,
    judges: readonly Judge[],
  ): Promise<Reject | undefined> => {
    for (const judge of judges) {
      const refusal = await judged(judge, timeoutMs, call.signal);
      if (refusal !== undefined) return refuse(kind, call, judge, refusal);
    }
    return undefined;
  };
  const judgeInput = (call: TaskCall): Promise<Reject | undefined> => {
    const { expectedOutput, inputGuardrails } = call.task;
    const judges = inputGuardrails.map((guardrail) => ({
      name: guardrail.name,
      ask: (signal: AbortSignal) => guardrail({ ...factsOf(call), expectedOutput, signal }),
    }));
    return judgeAll("INPUT", call, judges);
  };
  const judgeOutput = (
    call: After<TaskCall, "output", TaskOutput>,
  ): Promise<Reject | undefined> | undefined => {
    if (call.output === undefined) return undefined;
    const { raw, parsed } = call.output;
    const judges = call.task.outputGuardrails.map((guardrail) => ({
      name: guardrail.name,
      ask: (signal: AbortSignal) =>
        guardrail({ ...factsOf(call), raw, parsed: parsed as never, signal }),
    }));
    return judgeAll("OUTPUT", call, judges);
  };
  return definePlugin({
    name: "guardrails",
    apply({ hooks }) {
      hooks.beforeTask.tap({ name: "inputs", lane: "policy" }, judgeInput);
      hooks.afterTask.tap({ name: "outputs", lane: "policy" }, judgeOutput);
    },
  });
}
