import type { CostConfiguration } from "./contracts/cost.js";
import type { EnsembleOptions, Explanation } from "./contracts/ensemble-options.js";
import type { Plan } from "./contracts/plan.js";
import type { UsageRecord } from "./contracts/usage.js";
import type { TaskDetails } from "./explain-task.js";
import { messageOf } from "./contracts/errors.js";
import { Graph } from "./contracts/graph.js";
import { Loop } from "./contracts/loop.js";
import { priceOf, rounded } from "./kernel/cost.js";

/** Turns of a tool loop beside those in which a tool runs: two over the limit, and the last. */
const OTHER_TURNS = 3;
/** Tokens of a message beside its text: role, ids, the note that something was cut. */
const FRAME = 60;

/** How many model calls a run makes for a task at most, tries that fail not counted. Missing where nothing limits them. */
export function callsOf(task: Omit<TaskDetails, "explained"> & { readonly tools: number }, plan: Plan): number | undefined {
  const { planned, agent, model, tools, dynamicTools } = task;
  const { spec, group } = planned;
  if (model === undefined || agent === undefined) return 0;
  const turns = tools > 0 || dynamicTools ? agent.maxIterations + OTHER_TURNS : 1;
  const corrections = spec.outputType === undefined ? 0 : spec.maxOutputRetries;
  const attempt = turns + corrections;
  const once = attempt * (1 + spec.guardrailRetries) + (spec.reflect === false ? 0 : 1);
  if (group instanceof Loop) return once * group.maxIterations;
  if (group instanceof Graph) return once * group.maxSteps;
  if (plan.phases.some((phase) => phase.review !== undefined)) return undefined; // a review may send any phase back, and its predecessors
  return once;
}

type Bound = Pick<Explanation, "costBound" | "unbounded">;

/** The most that a run costs, or what it depends on. Estimates of tokens are taken for what they are: a text may have a few more. */
export function costBoundOf(tasks: readonly TaskDetails[], workflow: string, options: EnsembleOptions, prices: CostConfiguration): Bound {
  const unbounded: string[] = [];
  if (workflow === "HIERARCHICAL") unbounded.push("HIERARCHICAL: how often the manager delegates, and what for, is its own decision");
  const outputs = new Map(tasks.map((task) => [task.planned.id, task]));
  let [inputCost, outputCost, totalCost, currency] = [0, 0, 0, "USD"];
  for (const task of tasks) {
    if (task.model === undefined) continue;
    const usage = usageOf(task, outputs, options, unbounded);
    if (usage === undefined) continue;
    try {
      const price = priceOf(prices, usage);
      if (price.cost === undefined) unbounded.push(`Task '${task.planned.id}': the price function knows no price for ${task.explained.model}`);
      inputCost += price.inputCost ?? 0;
      outputCost += price.outputCost ?? 0;
      totalCost += price.cost ?? 0;
      currency = price.currency ?? currency;
    } catch (error) {
      unbounded.push(`Task '${task.planned.id}': the price function failed: ${messageOf(error)}`);
    }
  }
  if (unbounded.length > 0) return { unbounded };
  return { unbounded, costBound: { inputCost: rounded(inputCost), outputCost: rounded(outputCost), totalCost: rounded(totalCost), currency } };
}

/** All calls of a task as one usage record, or nothing and the reasons. */
function usageOf(task: TaskDetails, all: ReadonlyMap<string, TaskDetails>, options: EnsembleOptions, unbounded: string[]): UsageRecord | undefined {
  const { planned, explained, modelOptions, agent, model, dynamicTools } = task;
  const before = unbounded.length;
  const because = (reason: string): void => void unbounded.push(`Task '${planned.id}': ${reason}`);
  const { maxOutputTokens } = modelOptions;
  const { maxModelCalls: calls } = explained;
  if (maxOutputTokens === undefined) because("its answers may have any length; set modelOptions.maxOutputTokens");
  if (calls === undefined) because("a phase review may have it done again");
  if (explained.synthesizedByModel) because("its agent is made by a model");
  if (agent?.allowDelegation === true) because("its agent may delegate");
  if (planned.spec.memory.length > 0 || options.memory !== undefined || planned.spec.reflect !== false) because("what is remembered may have any length");
  const hasTools = explained.tools.length > 0 || dynamicTools;
  const toolLength = options.maxToolOutputLength ?? -1;
  if (hasTools && toolLength < 0) because("its tools may answer at any length; set maxToolOutputLength");
  if (dynamicTools) because("which tools it has is known only when it starts");
  const context = planned.contextIds.map((id) => all.get(id)?.modelOptions.maxOutputTokens);
  if (context.includes(undefined)) because("a task in its context may put out any length");
  if (unbounded.length > before || maxOutputTokens === undefined || calls === undefined || model === undefined) return undefined;
  const given = explained.estimatedInputTokens + context.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0);
  const grown = hasTools ? (agent?.maxIterations ?? 0) * (toolLength + FRAME) : 0;
  const inputTokens = calls * (given + grown) + ((maxOutputTokens + FRAME) * calls * (calls - 1)) / 2;
  return {
    runId: "explain",
    taskId: planned.id,
    agentRole: explained.agentRole,
    purpose: "task",
    provider: model.provider,
    modelId: model.modelId,
    inputTokens,
    outputTokens: calls * maxOutputTokens,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    latencyMs: 0,
    attempt: 1,
    outcome: "ok",
    tags: {},
  };
}
