import type { ChatModel, ModelOptions } from "./contracts/chat-model.js";
import type { EnsembleOptions, ExplainedTask } from "./contracts/ensemble-options.js";
import type { PromptPreview } from "./contracts/executors.js";
import type { PromptSection, TaskCall } from "./contracts/hooks.js";
import type { TaskOutput } from "./contracts/output.js";
import type { Plan, PlannedTask } from "./contracts/plan.js";
import type { Run } from "./contracts/run.js";
import type { TokenCounter } from "./contracts/token-counter.js";
import type { Settings } from "./kernel/settings.js";
import { Agent } from "./contracts/agent.js";
import { ValidationError } from "./contracts/errors.js";
import { PhaseReview } from "./contracts/phase.js";
import { NO_METRICS } from "./contracts/output.js";
import { isToolProvider } from "./contracts/tool.js";
import { Tokens } from "./contracts/tokens.js";
import { callsOf } from "./cost-bound.js";

/** An explained task, with what a bound of its cost is reckoned from. */
export interface TaskDetails {
  readonly planned: PlannedTask;
  readonly agent: Agent | undefined;
  readonly model: ChatModel | undefined;
  readonly modelOptions: ModelOptions;
  /** Whether it has tools that are known only when it starts. */
  readonly dynamicTools: boolean;
  readonly explained: ExplainedTask;
}

/** Who did a task with a handler, as outputs say it. */
const DETERMINISTIC = "(deterministic)";
const NOTHING: PromptPreview = { systemPrompt: "", userPrompt: "", tools: [] };

/** Stands for an output that does not exist yet. */
function placeholder({ id, spec }: PlannedTask, agentRole: string): TaskOutput {
  const raw = `[output of ${id}]`;
  const output = {
    taskId: id,
    raw,
    parsed: raw,
    taskDescription: spec.description,
    agentRole,
    completedAt: new Date(0),
    durationMs: 0,
    toolCallCount: 0,
    metrics: NO_METRICS,
  };
  return { ...output, getParsedOutput: () => raw as never }; // nobody parses a placeholder
}

/** What plugins would add to the prompt, by the slots that task and ensemble declare. */
function declaredSections(
  { spec }: PlannedTask,
  { memory, memoryStore }: EnsembleOptions,
  hasStore: boolean,
): PromptSection[] {
  const stored = memoryStore !== undefined || hasStore ? spec.memory : [];
  return [
    ...stored.map(({ name }): PromptSection => ({
      slot: "memory",
      text: `[memory of scope "${name}"]`,
    })),
    ...(memory?.shortTerm === true
      ? [{ slot: "shortTerm" as const, text: "[outputs of earlier tasks of this run]" }]
      : []),
    ...(memory?.longTerm === undefined
      ? []
      : [{ slot: "longTerm" as const, text: "[what long-term memory recalls]" }]),
    ...(memory?.entity === undefined
      ? []
      : [{ slot: "entity" as const, text: "[known entities]" }]),
    ...(spec.reflect === false
      ? []
      : [{ slot: "improvement" as const, text: "[notes of earlier runs]" }]),
  ];
}

/** Whose outputs a task is given: of its context, and for the review of a phase first those of the phase. */
function givenIds({ contextIds, group }: PlannedTask, plan: Plan): readonly string[] {
  if (!(group instanceof PhaseReview)) return contextIds;
  const phase = plan.phases.find(({ review }) => review === group);
  return [
    ...new Set([
      ...plan.tasks.filter((task) => task.group === phase).map(({ id }) => id),
      ...contextIds,
    ]),
  ];
}

/** Says of each task what its first model call would be. */
export class TaskExplainer {
  constructor(
    readonly plan: Plan,
    readonly settings: Settings,
    readonly run: Run,
    readonly counter: TokenCounter,
  ) {}

  async explain(task: PlannedTask): Promise<TaskDetails> {
    const { settings } = this;
    const { agent, byModel } = await this.#agentOf(task);
    const model = task.spec.handler === undefined ? settings.model(task.spec, agent) : undefined;
    const preview = await this.#preview(task, agent, model);
    const { systemPrompt, userPrompt, tools } = preview;
    const text = [systemPrompt, userPrompt, ...tools.map((t) => JSON.stringify(t))].join("\n");
    const details = {
      planned: task,
      agent,
      model,
      modelOptions: { ...agent?.modelOptions, ...task.spec.modelOptions },
      dynamicTools: [...(agent?.tools ?? []), ...settings.all(Tokens.Tool)].some(isToolProvider),
    };
    const calls = callsOf({ ...details, tools: tools.length }, this.plan);
    const explained: ExplainedTask = {
      taskId: task.id,
      description: task.spec.description,
      agentRole: agent?.role ?? DETERMINISTIC,
      synthesizedByModel: byModel,
      dependsOn: givenIds(task, this.plan),
      model: model === undefined ? "" : `${model.provider}:${model.modelId}`,
      systemPrompt,
      userPrompt,
      tools: tools.map((t) => t.name),
      toolSpecs: tools,
      estimatedInputTokens: preview === NOTHING ? 0 : await this.counter.count(text),
      maxModelCalls: calls,
    };
    return { ...details, explained };
  }

  async #preview(
    task: PlannedTask,
    agent: Agent | undefined,
    model: ChatModel | undefined,
  ): Promise<PromptPreview> {
    const { settings, run, plan } = this;
    const byId = new Map(plan.tasks.map((t) => [t.id, t]));
    const given = givenIds(task, plan).flatMap((id) => byId.get(id) ?? []);
    const call: TaskCall = {
      run: { id: run.id, inputs: run.inputs, tags: {} },
      taskId: task.id,
      task: task.spec,
      agent,
      contextOutputs: await Promise.all(
        given.map(async (source) =>
          placeholder(source, (await this.#agentOf(source)).agent?.role ?? DETERMINISTIC),
        ),
      ),
      promptSections: declaredSections(
        task,
        plan.options,
        settings.find(Tokens.MemoryStore) !== undefined,
      ),
      attempt: 1,
      revision: undefined,
      signal: run.signal,
    };
    const executor = settings.all(Tokens.TaskExecutor).findLast((e) => e.handles(task));
    // Validated: tasks that call a model have one.
    const scope = {
      get: settings.get.bind(settings),
      all: settings.all.bind(settings),
      workers: run.workers,
      model: model as NonNullable<typeof model>,
    };
    return (await executor?.preview?.(call, scope)) ?? NOTHING;
  }

  async #agentOf(
    task: PlannedTask,
  ): Promise<{ readonly agent: Agent | undefined; readonly byModel: boolean }> {
    const { settings, run } = this;
    if (task.spec.handler !== undefined) return { agent: undefined, byModel: false };
    if (task.agent !== undefined) return { agent: task.agent, byModel: false };
    const synthesizer = settings.get(Tokens.AgentSynthesizer);
    if (synthesizer.usesModel === true)
      return {
        agent: new Agent({
          role: "(synthesized)",
          goal: task.spec.description,
          tools: task.spec.tools,
        }),
        byModel: true,
      };
    const model = settings.model(task.spec, undefined);
    if (model === undefined) return { agent: undefined, byModel: false };
    const silent: ChatModel = {
      provider: model.provider,
      modelId: model.modelId,
      capabilities: model.capabilities,
      chat: async () => callsNoModel(),
    };
    return {
      agent: await synthesizer.synthesize(task.spec, { model: silent, run }),
      byModel: false,
    };
  }
}

function callsNoModel(): never {
  throw new ValidationError("explain() calls no model", {
    hint: "A synthesizer that needs it must declare usesModel: true.",
  });
}
