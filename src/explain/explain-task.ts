import type { ChatModel } from "../contracts/chat-model.js";
import type { EnsembleOptions, ExplainedTask } from "../contracts/ensemble-options.js";
import type { PromptPreview } from "../contracts/executors.js";
import type { PromptSection, TaskCall } from "../contracts/hooks.js";
import type { TaskOutput } from "../contracts/output.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { PlanDescription, PlanStep } from "../contracts/plan-description.js";
import type { HookRun, Run } from "../contracts/run.js";
import type { TokenCounter } from "../contracts/token-counter.js";
import type { Settings } from "../engine/plan/settings.js";
import type { TaskDetails } from "./model.js";
import { Agent } from "../contracts/agent.js";
import { ValidationError } from "../contracts/errors.js";
import { shortTermWindow } from "../contracts/memory.js";
import { NO_METRICS } from "../contracts/output.js";
import { isToolProvider } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";
import { ActiveHookRun } from "../engine/run/hook-run.js";
import { callsOf } from "./cost-bound.js";

/** The agent of a task with a handler, in the form of outputs. */
const DETERMINISTIC = "(deterministic)";
const NOTHING: PromptPreview = { systemPrompt: "", userPrompt: "", tools: [] };

/** Represents an output that does not exist yet. */
function placeholder({ id, task }: PlannedTask, agentRole: string): TaskOutput {
  const raw = `[output of ${id}]`;
  const output = {
    taskId: id,
    raw,
    parsed: raw,
    taskDescription: task.description,
    agentRole,
    completedAt: new Date(0),
    durationMs: 0,
    toolCallCount: 0,
    metrics: NO_METRICS,
  };
  return { ...output, getParsedOutput: () => raw as never }; // a placeholder is never parsed
}

/**
 * Returns the sections that plugins would add to the prompt, by the slots that task and ensemble
 * declare.
 */
function declaredSections(
  { task, agent }: PlannedTask,
  { memory, memoryStore }: EnsembleOptions,
  hasStore: boolean,
): PromptSection[] {
  const stored = memoryStore !== undefined || hasStore ? task.memory : [];
  return [
    ...stored.map(({ name }): PromptSection => ({
      slot: "memory",
      text: `[memory of scope "${name}"]`,
    })),
    ...((shortTermWindow(memory ?? {}, agent) ?? 0) > 0
      ? [{ slot: "shortTerm" as const, text: "[outputs of earlier tasks of this run]" }]
      : []),
    ...(memory?.longTerm === undefined
      ? []
      : [{ slot: "longTerm" as const, text: "[what long-term memory recalls]" }]),
    ...(memory?.entity === undefined
      ? []
      : [{ slot: "entity" as const, text: "[known entities]" }]),
    ...(task.reflect === false
      ? []
      : [{ slot: "improvement" as const, text: "[notes of earlier runs]" }]),
  ];
}

/**
 * Returns the ids of the tasks whose outputs a task receives: first by its step, then by its
 * context.
 */
function givenIds({ contextIds }: PlannedTask, { dependsOn = [] }: PlanStep): readonly string[] {
  return [...new Set([...dependsOn, ...contextIds])];
}

/**
 * Returns the steps of a description by the ids of their tasks. The tasks of a loop have the
 * `maxRuns` of the loop.
 */
function stepsByTask({ steps }: PlanDescription): ReadonlyMap<string, PlanStep> {
  return new Map(
    steps.flatMap(({ body, maxRuns, ...step }) =>
      body === undefined
        ? [[step.id, { ...step, maxRuns }] as const]
        : body.map((part) => [part.id, { ...part, maxRuns }] as const),
    ),
  );
}

/** Describes the first model call of each task. */
export class TaskExplainer {
  readonly plan: Plan;
  readonly #steps: ReadonlyMap<string, PlanStep>;
  readonly #tasks: ReadonlyMap<string, PlannedTask>;
  readonly #counter: TokenCounter;
  /** The run for building prompts. */
  readonly #hookRun: HookRun;

  constructor(
    readonly settings: Settings,
    readonly run: Run,
    description: PlanDescription,
  ) {
    this.plan = run.plan;
    this.#steps = stepsByTask(description);
    this.#tasks = new Map(run.plan.tasks.map((task) => [task.id, task]));
    this.#counter = settings.get(Tokens.TokenCounter);
    this.#hookRun = ActiveHookRun.idle(run, settings);
  }

  async explain(task: PlannedTask): Promise<TaskDetails> {
    const { settings } = this;
    const { agent, byModel } = await this.#agentOf(task);
    const model = task.task.handler === undefined ? settings.model(task.task, agent) : undefined;
    const step = this.#steps.get(task.id) ?? { id: task.id, after: [] };
    const given = givenIds(task, step);
    const preview = await this.#preview(task, given, agent, model);
    const { systemPrompt, userPrompt, tools } = preview;
    const text = [systemPrompt, userPrompt, ...tools.map((t) => JSON.stringify(t))].join("\n");
    const details = {
      planned: task,
      step,
      agent,
      model,
      modelOptions: { ...agent?.modelOptions, ...task.task.modelOptions },
      dynamicTools: [...(agent?.tools ?? []), ...settings.all(Tokens.Tool)].some(isToolProvider),
    };
    const calls = callsOf({ ...details, tools: tools.length }, settings.options);
    const explained: ExplainedTask = {
      taskId: task.id,
      description: task.task.description,
      agentRole: agent?.role ?? DETERMINISTIC,
      synthesizedByModel: byModel,
      dependsOn: given,
      model: model === undefined ? "" : `${model.provider}:${model.modelId}`,
      systemPrompt,
      userPrompt,
      tools: tools.map((t) => t.name),
      toolSpecs: tools,
      estimatedInputTokens: preview === NOTHING ? 0 : await this.#counter.count(text),
      maxModelCalls: calls,
    };
    return { ...details, explained };
  }

  async #preview(
    task: PlannedTask,
    given: readonly string[],
    agent: Agent | undefined,
    model: ChatModel | undefined,
  ): Promise<PromptPreview> {
    const { settings, run, plan } = this;
    const sources = given.flatMap((id) => this.#tasks.get(id) ?? []);
    const call: TaskCall = {
      run: this.#hookRun,
      taskId: task.id,
      identity: task.id,
      task: task.task,
      source: task.task,
      group: task.group,
      agent,
      contextOutputs: await Promise.all(
        sources.map(async (source) =>
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
    // Validated: tasks that call a model have a model.
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
    if (task.task.handler !== undefined) return { agent: undefined, byModel: false };
    if (task.agent !== undefined) return { agent: task.agent, byModel: false };
    const synthesizer = settings.get(Tokens.AgentSynthesizer);
    if (synthesizer.usesModel === true)
      return {
        agent: new Agent({
          role: "(synthesized)",
          goal: task.task.description,
          tools: task.task.tools,
        }),
        byModel: true,
      };
    const model = settings.model(task.task, undefined);
    if (model === undefined) return { agent: undefined, byModel: false };
    const silent: ChatModel = {
      provider: model.provider,
      modelId: model.modelId,
      capabilities: model.capabilities,
      chat: async () => callsNoModel(),
    };
    return {
      agent: await synthesizer.synthesize(task.task, { model: silent, run }),
      byModel: false,
    };
  }
}

function callsNoModel(): never {
  throw new ValidationError("explain() calls no model", {
    hint: "A synthesizer that needs it must declare usesModel: true.",
  });
}
