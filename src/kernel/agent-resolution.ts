import type { Agent } from "../contracts/agent.js";
import type { ChatModel } from "../contracts/chat-model.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { EngineRun } from "./engine-run.js";
import { ValidationError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { settleWithin } from "./cancellation.js";
import { TaskRecordState } from "./task-record.js";
import { GatewayScope } from "./task-scope.js";

/** The agent of a task: its own, else the one made for it, once per task and run. `undefined` for a task with a handler. */
export function agentOf(run: EngineRun, planned: PlannedTask, parentTaskId?: string): Promise<Agent | undefined> {
  if (planned.spec.handler !== undefined) return Promise.resolve(undefined);
  if (planned.agent !== undefined) return Promise.resolve(planned.agent);
  let agent = run.agents.get(planned.id);
  if (agent === undefined) {
    agent = synthesize(run, planned, parentTaskId);
    run.agents.set(planned.id, agent);
  }
  return agent;
}

/** Model calls of a synthesizer go through the task's own gateway, so that they are counted. */
async function synthesize(run: EngineRun, planned: PlannedTask, parentTaskId: string | undefined): Promise<Agent> {
  const { spec, id } = planned;
  const model = run.settings.model(spec, undefined);
  if (model === undefined) throw new ValidationError(`No LLM available for task '${spec.description}'. Provide a task-level chatLanguageModel or an ensemble-level chatLanguageModel.`);
  const record = new TaskRecordState(run.base, id, parentTaskId, 0, spec, undefined, "(synthesized)", run.clock.monotonicMs(), undefined);
  const scope = new GatewayScope(run, record, run.cancellation, 0, run.indexOf(id));
  const counted: ChatModel = {
    provider: model.provider,
    modelId: model.modelId,
    capabilities: model.capabilities,
    chat: (request) => scope.chat(request, { purpose: "synthesis", model }),
  };
  try {
    const synthesizer = run.settings.get(Tokens.AgentSynthesizer);
    const agent = await settleWithin(Promise.resolve(synthesizer.synthesize(spec, { model: counted, run: run.view })), run.cancellation, run.limits.graceMs);
    run.madeAgents.push(agent);
    return agent;
  } finally {
    record.endedMs = run.clock.monotonicMs();
    record.outcome = "ok";
    if (record.calls.length > 0) run.records.push(record);
  }
}

/** Agents that tasks can be handed to, one per role: those without a task of their own, those of the plan, those made so far. */
export function workersOf(run: EngineRun): readonly Agent[] {
  const workers = new Map<string, Agent>();
  for (const agent of [...(run.options.agents ?? []), ...run.plan.tasks.map((t) => t.agent), ...run.madeAgents]) {
    if (agent !== undefined && !workers.has(canonicalRole(agent.role))) workers.set(canonicalRole(agent.role), agent);
  }
  return [...workers.values()];
}

/** Roles are compared without regard to case and outer blanks. */
export function canonicalRole(role: string): string {
  return role.trim().toLowerCase();
}
