import type { ChatModel } from "./contracts/chat-model.js";
import type { EnsembleOptions, ExplainedTask, Explanation } from "./contracts/ensemble-options.js";
import type { TaskCall } from "./contracts/hooks.js";
import type { TaskOutput } from "./contracts/output.js";
import type { Plan, PlannedTask } from "./contracts/plan.js";
import type { Run } from "./contracts/run.js";
import type { Inputs } from "./contracts/types.js";
import type { KernelInternals } from "./kernel/kernel.js";
import type { PromptPreview } from "./contracts/executors.js";
import type { Settings } from "./kernel/settings.js";
import { Agent } from "./contracts/agent.js";
import { ValidationError } from "./contracts/errors.js";
import { Tokens } from "./contracts/tokens.js";
import { prepareRun } from "./kernel/engine.js";

const NOTHING: PromptPreview = { systemPrompt: "", userPrompt: "", tools: [] };

/** Stands for an output that does not exist yet. */
function placeholder({ id, spec, agent }: PlannedTask): TaskOutput {
  const raw = `[output of ${id}]`;
  const empty = { inputTokens: 0, outputTokens: 0, totalTokens: 0, llmCallCount: 0, toolCallCount: 0, llmLatencyMs: 0, toolExecutionMs: 0, delegationCount: 0 };
  const output = {
    taskId: id,
    raw,
    parsed: raw,
    taskDescription: spec.description,
    agentRole: agent?.role ?? "",
    completedAt: new Date(0),
    durationMs: 0,
    toolCallCount: 0,
    metrics: empty,
  };
  return { ...output, getParsedOutput: () => raw as never }; // nobody parses a placeholder
}

function refused(what: string): never {
  throw new ValidationError(`explain() ${what}`, { hint: "A synthesizer that needs it must declare usesModel: true." });
}

/** A run for synthesizers that look something up in it; nothing can be done with it. */
function explainedRun(plan: Plan, settings: Settings, inputs: Inputs): Run {
  const noTasks = (): never => refused("runs no task");
  return {
    id: "explain",
    signal: new AbortController().signal,
    inputs,
    plan,
    workers: [],
    runTask: async () => noTasks(),
    runWorkflow: async () => noTasks(),
    agentOf: async () => noTasks(),
    define: noTasks,
    report: noTasks,
    emit: () => undefined,
    listens: () => false,
    get: (token) => settings.get(token),
    all: (token) => settings.all(token),
  };
}

async function agentOf(task: PlannedTask, settings: Settings, run: Run): Promise<{ readonly agent: Agent | undefined; readonly byModel: boolean }> {
  if (task.spec.handler !== undefined) return { agent: undefined, byModel: false };
  if (task.agent !== undefined) return { agent: task.agent, byModel: false };
  const synthesizer = settings.get(Tokens.AgentSynthesizer);
  if (synthesizer.usesModel === true)
    return { agent: new Agent({ role: "(synthesized)", goal: task.spec.description, tools: task.spec.tools }), byModel: true };
  const model = settings.model(task.spec, undefined);
  if (model === undefined) return { agent: undefined, byModel: false };
  const silent: ChatModel = { provider: model.provider, modelId: model.modelId, capabilities: model.capabilities, chat: async () => refused("calls no model") };
  return { agent: await synthesizer.synthesize(task.spec, { model: silent, run }), byModel: false };
}

async function explainTask(plan: Plan, task: PlannedTask, settings: Settings, run: Run, estimate: (text: string) => number): Promise<ExplainedTask> {
  const { agent, byModel } = await agentOf(task, settings, run);
  const byId = new Map(plan.tasks.map((t) => [t.id, t]));
  const contextOutputs = task.contextIds.flatMap((id) => byId.get(id) ?? []).map(placeholder);
  const call: TaskCall = {
    run: { id: run.id, inputs: run.inputs, tags: {} },
    taskId: task.id,
    task: task.spec,
    agent,
    contextOutputs,
    promptSections: [],
    attempt: 1,
    revision: undefined,
    signal: run.signal,
  };
  const executor = settings.all(Tokens.TaskExecutor).findLast((e) => e.handles(task));
  const model = settings.model(task.spec, agent);
  const scope = { get: settings.get.bind(settings), all: settings.all.bind(settings), model: model as NonNullable<typeof model> }; // validated: tasks that call a model have one
  const preview = (await executor?.preview?.(call, scope)) ?? NOTHING;
  const text = [preview.systemPrompt, preview.userPrompt, ...preview.tools.map((t) => JSON.stringify(t))].join("\n");
  return {
    taskId: task.id,
    description: task.spec.description,
    agentRole: agent?.role ?? "(deterministic)",
    synthesizedByModel: byModel,
    dependsOn: task.contextIds,
    systemPrompt: preview.systemPrompt,
    userPrompt: preview.userPrompt,
    tools: preview.tools.map((t) => t.name),
    estimatedInputTokens: preview === NOTHING ? 0 : estimate(text),
  };
}

/** The plan and the first prompt of every task, with token estimates. No model, tool or tap is called. */
export async function explain(kernel: KernelInternals, options: EnsembleOptions, inputs: Inputs): Promise<Explanation> {
  const { draft, settings, workflow } = prepareRun(kernel, options, inputs, {});
  const { estimateTokenCount } = await import("tokenx");
  const tasks: ExplainedTask[] = [];
  const run = explainedRun(draft.plan, settings, inputs);
  for (const task of draft.plan.tasks) tasks.push(await explainTask(draft.plan, task, settings, run, estimateTokenCount));
  return { workflow: workflow.name, tasks, estimatedInputTokens: tasks.reduce((sum, t) => sum + t.estimatedInputTokens, 0) };
}
