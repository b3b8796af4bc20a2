import type { ChatModel } from "../../contracts/chat-model.js";
import type { PlannedTask } from "../../contracts/plan.js";
import type { Outcome } from "../../contracts/types.js";
import type { ActiveRun } from "../run/active-run.js";
import { Agent } from "../../contracts/agent.js";
import { canonicalRole } from "../../contracts/role.js";
import { ValidationError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { preview } from "../../contracts/validation.js";
import { settleWithin } from "../../util/abort/timeouts.js";
import { chat } from "../gateways/chat.js";
import { TaskAttempt } from "./task-attempt.js";
import { TaskFrame, noModel } from "./task-frame.js";

/** Returns a task's agent. Creates a missing agent once per run. `undefined` for a handler. */
export function agentOf(
  run: ActiveRun,
  planned: PlannedTask,
  parentTaskId?: string,
): Promise<Agent | undefined> {
  if (planned.task.handler !== undefined) return Promise.resolve(undefined);
  if (planned.agent !== undefined) return Promise.resolve(planned.agent);
  let agent = run.agents.get(planned.id);
  if (agent === undefined) {
    agent = synthesize(run, planned, parentTaskId);
    run.agents.set(planned.id, agent);
    agent.catch(() => run.agents.delete(planned.id)); // a later attempt may try again
  }
  return agent;
}

/** Creates an agent. Its model calls use the task's gateway and are counted. */
async function synthesize(
  run: ActiveRun,
  planned: PlannedTask,
  parentTaskId: string | undefined,
): Promise<Agent> {
  const { task, id } = planned;
  const model = run.settings.model(task, undefined);
  if (model === undefined) throw noModel(task.name ?? task.description);
  const record = new TaskAttempt({
    base: run.base,
    taskId: id,
    parentTaskId,
    attempt: 0,
    task,
    agent: undefined,
    agentRole: "(synthesized)",
    startedMs: run.clock.monotonicMs(),
    mapReduce: planned.mapReduce,
  });
  const frame = new TaskFrame(run, record, run.cancellation);
  const counted: ChatModel = {
    provider: model.provider,
    modelId: model.modelId,
    capabilities: model.capabilities,
    chat: (request) => chat(frame, request, { purpose: "synthesis", model }),
  };
  let outcome: Outcome = "failed";
  try {
    const synthesizer = run.settings.get(Tokens.AgentSynthesizer);
    const agent = await settleWithin(
      Promise.resolve(synthesizer.synthesize(task, { model: counted, run: run.view })),
      run.cancellation,
      run.limits.graceMs,
    );
    if (!(agent instanceof Agent))
      throw new ValidationError(
        `The agent synthesizer must return an Agent for task '${task.description}', got: ${preview(agent)}`,
      );
    run.madeAgents.push(agent);
    outcome = "ok";
    return agent;
  } catch (error) {
    if (run.cancellation.reason !== undefined) outcome = "aborted";
    throw error;
  } finally {
    record.end(run.clock.monotonicMs(), outcome, undefined);
    if (record.calls.length > 0) run.records.push(record);
  }
}

/** Returns the agents for delegation by canonical role: without tasks, planned, and created. */
export function teamOf(run: ActiveRun): ReadonlyMap<string, Agent> {
  const team = new Map<string, Agent>();
  const planned = run.plan.tasks.map((t) => t.agent);
  for (const agent of [...(run.options.agents ?? []), ...planned, ...run.madeAgents]) {
    const role = canonicalRole(agent?.role ?? "");
    if (agent !== undefined && !team.has(role)) team.set(role, agent);
  }
  return team;
}
