import type { ChatModel } from "../contracts/chat-model.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { EngineRun } from "./engine-run.js";
import { Agent } from "../contracts/agent.js";
import { ValidationError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { preview } from "../contracts/validation.js";
import { settleWithin } from "./cancellation.js";
import { TaskRecordState } from "./task-record.js";
import { GatewayScope } from "./task-scope.js";

/** The agent of a task: its own, else the one made for it, once per task and run. `undefined` for a task with a handler. */
export function agentOf(
  run: EngineRun,
  planned: PlannedTask,
  parentTaskId?: string,
): Promise<Agent | undefined> {
  if (planned.spec.handler !== undefined) return Promise.resolve(undefined);
  if (planned.agent !== undefined) return Promise.resolve(planned.agent);
  let agent = run.agents.get(planned.id);
  if (agent === undefined) {
    agent = synthesize(run, planned, parentTaskId);
    run.agents.set(planned.id, agent);
    agent.catch(() => run.agents.delete(planned.id)); // a task that is done again may ask again
  }
  return agent;
}

/** Model calls of a synthesizer go through the task's own gateway, so that they are counted. */
async function synthesize(
  run: EngineRun,
  planned: PlannedTask,
  parentTaskId: string | undefined,
): Promise<Agent> {
  const { spec, id } = planned;
  const model = run.settings.model(spec, undefined);
  if (model === undefined)
    throw new ValidationError(
      `No LLM available for task '${spec.description}'. Provide a task-level chatLanguageModel or an ensemble-level chatLanguageModel.`,
    );
  const record = new TaskRecordState(
    run.base,
    id,
    parentTaskId,
    0,
    spec,
    undefined,
    "(synthesized)",
    run.clock.monotonicMs(),
    undefined,
    planned.mapReduce,
  );
  const scope = new GatewayScope(run, record, run.cancellation, 0, run.indexOf(id));
  const counted: ChatModel = {
    provider: model.provider,
    modelId: model.modelId,
    capabilities: model.capabilities,
    chat: (request) => scope.chat(request, { purpose: "synthesis", model }),
  };
  try {
    const synthesizer = run.settings.get(Tokens.AgentSynthesizer);
    const agent = await settleWithin(
      Promise.resolve(synthesizer.synthesize(spec, { model: counted, run: run.view })),
      run.cancellation,
      run.limits.graceMs,
    );
    if (!(agent instanceof Agent))
      throw new ValidationError(
        `The agent synthesizer must return an Agent for task '${spec.description}', got: ${preview(agent)}`,
      );
    run.madeAgents.push(agent);
    record.outcome = "ok";
    return agent;
  } finally {
    record.endedMs = run.clock.monotonicMs();
    if (record.outcome === "running")
      record.outcome = run.cancellation.reason === undefined ? "failed" : "aborted";
    if (record.calls.length > 0) run.records.push(record);
  }
}
