import type { Agent } from "../contracts/agent.js";
import type { CostConfiguration, CostEstimate } from "../contracts/cost.js";
import type { EnsembleOptions, Explanation } from "../contracts/ensemble-options.js";
import type { UsageRecord } from "../contracts/usage.js";
import type { TaskDetails, TeamDetails } from "./model.js";

import { withSuccessors } from "../contracts/handoff.js";
import { priceOf, roundedCost } from "../contracts/cost.js";
import { messageOf } from "../util/errors.js";

/** The turns of a tool loop without a tool call: two turns above the limit, and the last turn. */
const OTHER_TURNS = 3;
/** The tokens of a message in addition to its text: role, ids, the note on shortened text. */
const FRAME = 60;
/** Tokens of the message of a guardrail or of an invalid answer (texts of 2,000 characters). */
const FEEDBACK = 500;
/** The default of the option `maxHandoffs`. */
const MAX_HANDOFFS = 5;
/**
 * In the two turns above the limit, the text for a refused call is about four times the call's
 * length.
 */
const STOP_TEXTS = 2 * 4;

/** Returns the maximum number of model calls of a run for a task, without failed attempts. */
export function callsOf(
  task: Omit<TaskDetails, "explained"> & { readonly tools: number },
  { maxHandoffs = MAX_HANDOFFS }: EnsembleOptions,
): number {
  const { planned, agent, model, tools, dynamicTools, step } = task;
  const { task: spec } = planned;
  if (model === undefined || agent === undefined) return 0;
  const ofAgent = ({ maxIterations }: Agent): number => maxIterations + OTHER_TURNS;
  const turns =
    agent.handoffs !== undefined
      ? (1 + maxHandoffs) * Math.max(...[...withSuccessors([agent])].map(ofAgent))
      : tools > 0 || dynamicTools
        ? ofAgent(agent)
        : 1;
  const corrections = spec.outputType === undefined ? 0 : spec.maxOutputRetries;
  const attempt = turns + corrections;
  const once = attempt * (1 + spec.guardrailRetries) + (spec.reflect === false ? 0 : 1);
  return once * (step.maxRuns ?? 1);
}

type Bound = Pick<Explanation, "costBound" | "unbounded">;

/** The data for a bound, and the reasons for a missing bound. */
interface Reckoning {
  readonly options: EnsembleOptions;
  readonly prices: CostConfiguration;
  /** All tasks whose outputs may be in a prompt. */
  readonly all: readonly TaskDetails[];
  readonly manager: TaskDetails | undefined;
  readonly unbounded: Set<string>;
}

/**
 * Returns the maximum cost of a run, or the missing limits. Token counts are estimates: a text may
 * have a few more tokens.
 */
export function costBoundOf(
  tasks: readonly TaskDetails[],
  options: EnsembleOptions,
  prices: CostConfiguration,
  team?: TeamDetails,
): Bound {
  const reckoning: Reckoning = {
    options,
    prices,
    all: [...tasks, ...(team?.assignments ?? [])],
    manager: team?.manager,
    unbounded: new Set(),
  };
  const costs = tasks.map((task) => costOf(task, reckoning));
  if (team !== undefined) {
    const texts = [team.manager, ...team.assignments].map(
      (task) => task.modelOptions.maxOutputTokens ?? 0,
    ); // without that limit there is no bound
    // The manager's text and, for a repeated task, its previous output.
    const addedTokens = (texts[0] ?? 0) + Math.max(...texts) + FRAME;
    costs.push(
      timesBound(
        team.delegations,
        greatest(team.assignments.map((task) => costOf(task, reckoning, addedTokens))),
      ),
    );
  }
  const unbounded = [...reckoning.unbounded];
  return unbounded.length > 0 ? { unbounded } : { unbounded, costBound: sumOf(costs) };
}

/**
 * The maximum cost of all calls of a task. `addedTokens`: the tokens that another model adds to its
 * prompt.
 */
function costOf(
  task: TaskDetails,
  reckoning: Reckoning,
  addedTokens = 0,
): CostEstimate | undefined {
  const { explained, planned, model } = task;
  if (task.agent?.handoffs !== undefined)
    reckoning.unbounded.add(
      `Task '${planned.id}': the prompts of the agents that may take over are not known`,
    );
  const usage = model === undefined ? undefined : longestCall(task, reckoning, addedTokens);
  if (usage === undefined) return undefined;
  try {
    // For each call: a function may have a fee per call, or more expensive tokens in long ones.
    const price = priceOf(reckoning.prices, usage);
    if (price.cost === undefined)
      reckoning.unbounded.add(
        `Task '${planned.id}': the price function returns no price for ${explained.model}`,
      );
    const { inputCost = 0, outputCost = 0, cost: totalCost = 0, currency = "USD" } = price;
    return timesBound(explained.maxModelCalls, { inputCost, outputCost, totalCost, currency });
  } catch (error) {
    reckoning.unbounded.add(`Task '${planned.id}': the price function failed: ${messageOf(error)}`);
    return undefined;
  }
}

const FREE: CostEstimate = Object.freeze({
  inputCost: 0,
  outputCost: 0,
  totalCost: 0,
  currency: "USD",
});

function timesBound(
  n: number,
  { inputCost, outputCost, totalCost, currency }: CostEstimate,
): CostEstimate {
  return {
    inputCost: n * inputCost,
    outputCost: n * outputCost,
    totalCost: n * totalCost,
    currency,
  };
}

function greatest(costs: readonly (CostEstimate | undefined)[]): CostEstimate {
  return costs.reduce<CostEstimate>((most, cost = FREE) => {
    const { inputCost, outputCost, totalCost, currency } = cost;
    const [input, output, total] = [
      Math.max(most.inputCost, inputCost),
      Math.max(most.outputCost, outputCost),
      Math.max(most.totalCost, totalCost),
    ];
    return { inputCost: input, outputCost: output, totalCost: total, currency };
  }, FREE);
}

function sumOf(costs: readonly (CostEstimate | undefined)[]): CostEstimate {
  const known = costs.filter((cost) => cost !== undefined);
  const sum = (of: (cost: CostEstimate) => number): number =>
    roundedCost(known.reduce((all, cost) => all + of(cost), 0));
  return {
    inputCost: sum((c) => c.inputCost),
    outputCost: sum((c) => c.outputCost),
    totalCost: sum((c) => c.totalCost),
    currency: known.at(-1)?.currency ?? "USD",
  };
}

/** Returns the task with the longest answers, for a task that any of several agents may execute. */
function longestOf(tasks: readonly TaskDetails[]): TaskDetails | undefined {
  const lengthOf = ({ modelOptions }: TaskDetails): number =>
    modelOptions.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  return [...tasks].sort((a, b) => lengthOf(b) - lengthOf(a))[0];
}

/** The tasks whose outputs are in the prompt of this task and not in the estimate. */
function sourcesOf(
  { explained, step }: TaskDetails,
  all: readonly TaskDetails[],
): readonly (TaskDetails | undefined)[] {
  return [...explained.dependsOn, ...(step.feedbackFrom ?? [])].map((id) =>
    longestOf(all.filter((task) => task.planned.id === id)),
  );
}

/**
 * Returns the values without a limit in a call of the task, each with the option that would limit
 * it.
 */
function reasonsWithoutBound(
  task: TaskDetails,
  { all, manager, options }: Reckoning,
): readonly string[] {
  const { planned, explained, modelOptions, agent, dynamicTools } = task;
  const { attachments, memory, reflect } = planned.task;
  const hasTools = explained.tools.length > 0 || dynamicTools;
  const remembers = memory.length > 0 || options.memory !== undefined || reflect !== false;
  const sources = sourcesOf(task, all).map((source) => source?.modelOptions.maxOutputTokens);
  const limit = task === manager ? "managerModelOptions" : "modelOptions";
  const reasons: readonly (readonly [boolean, string])[] = [
    [
      modelOptions.maxOutputTokens === undefined,
      `its answers may have any length; set ${limit}.maxOutputTokens`,
    ],
    [explained.synthesizedByModel, "its agent is made by a model"],
    [agent?.allowDelegation === true, "its agent may delegate"],
    [attachments.length > 0, "only the vendor can count the tokens of its attachments"],
    [remembers, "what is remembered may have any length"],
    [
      hasTools && (options.maxToolOutputLength ?? -1) < 0,
      "its tools may answer at any length; set maxToolOutputLength",
    ],
    [dynamicTools, "which tools it has is known only when it starts"],
    [
      sources.includes(undefined),
      "a task in its context, or a review that sends it back, may put out any length",
    ],
  ];
  return reasons.flatMap(([holds, reason]) => (holds ? [reason] : []));
}

/**
 * Returns the maximum input tokens of a call of the task, if its answers have at most
 * `maxOutputTokens`.
 */
function greatestInput(
  task: TaskDetails,
  { all, options }: Reckoning,
  maxOutputTokens: number,
): number {
  const { planned, explained, agent, dynamicTools } = task;
  const { outputType, maxOutputRetries, guardrailRetries } = planned.task;
  const { estimatedInputTokens, maxModelCalls } = explained;
  const given = sourcesOf(task, all).reduce(
    (sum, source) => sum + (source?.modelOptions.maxOutputTokens ?? 0),
    estimatedInputTokens,
  );
  const hasTools = explained.tools.length > 0 || dynamicTools;
  const grown = hasTools
    ? (agent?.maxIterations ?? 0) * ((options.maxToolOutputLength ?? -1) + FRAME) +
      STOP_TEXTS * maxOutputTokens
    : 0;
  const corrections = outputType === undefined ? 0 : maxOutputRetries;
  // The schema is part of the request and of every correction.
  const schemas = outputType === undefined ? 0 : (1 + corrections) * estimatedInputTokens;
  const answers =
    (maxModelCalls - 1) * (maxOutputTokens + FRAME) + (corrections + guardrailRetries) * FEEDBACK;
  return given + grown + schemas + answers;
}

/** Returns the longest call of a task, or `undefined` and the reasons. */
function longestCall(
  task: TaskDetails,
  reckoning: Reckoning,
  addedTokens: number,
): UsageRecord | undefined {
  const { planned, explained, modelOptions, model } = task;
  const { maxOutputTokens } = modelOptions;
  const reasons = reasonsWithoutBound(task, reckoning);
  for (const reason of reasons) reckoning.unbounded.add(`Task '${planned.id}': ${reason}`);
  if (reasons.length > 0 || maxOutputTokens === undefined || model === undefined) return undefined;
  return {
    runId: "explain",
    taskId: planned.id,
    agentRole: explained.agentRole,
    purpose: "task",
    provider: model.provider,
    modelId: model.modelId,
    inputTokens: greatestInput(task, reckoning, maxOutputTokens) + addedTokens,
    outputTokens: maxOutputTokens,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    latencyMs: 0,
    attempt: 1,
    outcome: "ok",
    tags: {},
  };
}
