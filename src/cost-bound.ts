import type { CostConfiguration, CostEstimate } from "./contracts/cost.js";
import type { EnsembleOptions, Explanation } from "./contracts/ensemble-options.js";
import type { Plan, PlannedTask } from "./contracts/plan.js";
import type { UsageRecord } from "./contracts/usage.js";
import type { TaskDetails } from "./explain-task.js";
import type { Team } from "./explain-team.js";
import { messageOf } from "./contracts/errors.js";
import { Graph } from "./contracts/graph.js";
import { Loop } from "./contracts/loop.js";
import { Phase } from "./contracts/phase.js";
import { priceOf, rounded } from "./kernel/cost.js";

/** Turns of a tool loop beside those in which a tool runs: two over the limit, and the last. */
const OTHER_TURNS = 3;
/** Tokens of a message beside its text: role, ids, the note that something was cut. */
const FRAME = 60;
/** Tokens of what a guardrail, or a schema that an answer does not fit, has to say (texts of 2,000 characters). */
const FEEDBACK = 500;
/** In the two turns over the limit every refused call is answered by a text, about four times as long as the call. */
const STOP_TEXTS = 2 * 4;

/** Phases that may have a phase done again: those right behind it, by their review. */
function askersOf(phase: Phase, phases: readonly Phase[]): readonly Phase[] {
  return phases.filter(
    ({ after, review }) => after.includes(phase) && (review?.maxPredecessorRetries ?? 0) > 0,
  );
}

/** How often a phase is done at most: each time it is begun, by itself or for another, and after each predecessor that it sends back its retries begin anew. */
function attemptsOf(phase: Phase, phases: readonly Phase[]): number {
  const begun = askersOf(phase, phases).reduce(
    (sum, { review }) => sum + (review?.maxPredecessorRetries ?? 0),
    1,
  );
  return (
    (begun + phase.after.length * (phase.review?.maxPredecessorRetries ?? 0)) *
    (1 + (phase.review?.maxRetries ?? 0))
  );
}

/** The phase that a task, or a review, belongs to. */
function phaseOf({ group }: PlannedTask, phases: readonly Phase[]): Phase | undefined {
  return group === undefined
    ? undefined
    : phases.find((phase) => group === phase || group === phase.review);
}

/** How many model calls a run makes for a task at most, tries that fail not counted. */
export function callsOf(
  task: Omit<TaskDetails, "explained"> & { readonly tools: number },
  plan: Plan,
): number {
  const { planned, agent, model, tools, dynamicTools } = task;
  const { spec, group } = planned;
  if (model === undefined || agent === undefined) return 0;
  const turns = tools > 0 || dynamicTools ? agent.maxIterations + OTHER_TURNS : 1;
  const corrections = spec.outputType === undefined ? 0 : spec.maxOutputRetries;
  const attempt = turns + corrections;
  const once = attempt * (1 + spec.guardrailRetries) + (spec.reflect === false ? 0 : 1);
  if (group instanceof Loop) return once * group.maxIterations;
  if (group instanceof Graph) return once * group.maxSteps;
  const phase = phaseOf(planned, plan.phases);
  return phase === undefined ? once : once * attemptsOf(phase, plan.phases);
}

type Bound = Pick<Explanation, "costBound" | "unbounded">;

/** Where a bound is reckoned: what it goes by, and where it is said why there is none. */
interface Reckoning {
  readonly options: EnsembleOptions;
  readonly prices: CostConfiguration;
  /** All tasks whose outputs may stand in a prompt. */
  readonly all: readonly TaskDetails[];
  readonly manager: TaskDetails | undefined;
  readonly unbounded: Set<string>;
}

/** The most that a run costs, or what it depends on. Estimates of tokens are taken for what they are: a text may have a few more. */
export function costBoundOf(
  tasks: readonly TaskDetails[],
  options: EnsembleOptions,
  prices: CostConfiguration,
  team?: Team,
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
    ); // without that limit there is no bound anyway
    const told = (texts[0] ?? 0) + Math.max(...texts) + FRAME; // what the manager writes and, of a task that is done again, the output before
    costs.push(
      times(
        team.delegations,
        greatest(team.assignments.map((task) => costOf(task, reckoning, told))),
      ),
    );
  }
  const unbounded = [...reckoning.unbounded];
  return unbounded.length > 0 ? { unbounded } : { unbounded, costBound: sumOf(costs) };
}

/** What all calls of a task cost at most; `told` are tokens that another model adds to its prompt. */
function costOf(task: TaskDetails, reckoning: Reckoning, told = 0): CostEstimate | undefined {
  const { explained, planned, model } = task;
  const usage = model === undefined ? undefined : longestCall(task, reckoning, told);
  if (usage === undefined) return undefined;
  try {
    const price = priceOf(reckoning.prices, usage); // of each call by itself: a function may have a fee per call, or dearer tokens in long ones
    if (price.cost === undefined)
      reckoning.unbounded.add(
        `Task '${planned.id}': the price function knows no price for ${explained.model}`,
      );
    const { inputCost = 0, outputCost = 0, cost: totalCost = 0, currency = "USD" } = price;
    return times(explained.maxModelCalls, { inputCost, outputCost, totalCost, currency });
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

function times(
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
    rounded(known.reduce((all, cost) => all + of(cost), 0));
  return {
    inputCost: sum((c) => c.inputCost),
    outputCost: sum((c) => c.outputCost),
    totalCost: sum((c) => c.totalCost),
    currency: known.at(-1)?.currency ?? "USD",
  };
}

/** Reviews whose feedback a phase may be done again with. */
function reviewsOf(
  phase: Phase,
  phases: readonly Phase[],
  all: readonly TaskDetails[],
): readonly TaskDetails[] {
  const asking = [
    ...((phase.review?.maxRetries ?? 0) > 0 ? [phase] : []),
    ...askersOf(phase, phases),
  ];
  return asking.flatMap(({ review }) => all.filter(({ planned }) => planned.group === review));
}

/** Of a task that any of several agents may do: with the one whose answers may be longest. */
function longestOf(tasks: readonly TaskDetails[]): TaskDetails | undefined {
  const lengthOf = ({ modelOptions }: TaskDetails): number =>
    modelOptions.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  return [...tasks].sort((a, b) => lengthOf(b) - lengthOf(a))[0];
}

/** Tasks whose outputs stand in the prompt of this one, beside what the estimate has of it. */
function sourcesOf(
  { planned, explained }: TaskDetails,
  all: readonly TaskDetails[],
  phases: readonly Phase[],
): readonly (TaskDetails | undefined)[] {
  const context = explained.dependsOn.map((id) =>
    longestOf(all.filter((task) => task.planned.id === id)),
  );
  const { group } = planned;
  if (group instanceof Phase) return [...context, ...reviewsOf(group, phases, all)];
  if (!(group instanceof Loop) || !group.injectFeedback) return context;
  const body = all.filter((task) => task.planned.group === group);
  return planned === body[0]?.planned ? [...context, body.at(-1)] : context; // the iteration before
}

/** The longest call that a task may make, or nothing and the reasons. */
function longestCall(
  task: TaskDetails,
  { all, manager, options, unbounded }: Reckoning,
  told: number,
): UsageRecord | undefined {
  const { planned, explained, modelOptions, agent, model, dynamicTools } = task;
  const { spec } = planned;
  let isBound = true;
  const because = (reason: string): void => {
    isBound = false;
    unbounded.add(`Task '${planned.id}': ${reason}`);
  };
  const { maxOutputTokens } = modelOptions;
  const { maxModelCalls: calls } = explained;
  if (maxOutputTokens === undefined)
    because(
      `its answers may have any length; set ${task === manager ? "managerModelOptions" : "modelOptions"}.maxOutputTokens`,
    );
  if (explained.synthesizedByModel) because("its agent is made by a model");
  if (agent?.allowDelegation === true) because("its agent may delegate");
  if (spec.attachments.length > 0)
    because("how many tokens its attachments have is for the vendor to say");
  if (spec.memory.length > 0 || options.memory !== undefined || spec.reflect !== false)
    because("what is remembered may have any length");
  const hasTools = explained.tools.length > 0 || dynamicTools;
  const toolLength = options.maxToolOutputLength ?? -1;
  if (hasTools && toolLength < 0)
    because("its tools may answer at any length; set maxToolOutputLength");
  if (dynamicTools) because("which tools it has is known only when it starts");
  const context = sourcesOf(task, all, options.phases ?? []).map(
    (source) => source?.modelOptions.maxOutputTokens,
  );
  if (context.includes(undefined))
    because("a task in its context, or a review that sends it back, may put out any length");
  if (!isBound || maxOutputTokens === undefined || model === undefined) return undefined;
  const given =
    explained.estimatedInputTokens +
    told +
    context.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0);
  const grown = hasTools
    ? (agent?.maxIterations ?? 0) * (toolLength + FRAME) + STOP_TEXTS * maxOutputTokens
    : 0;
  const corrections = spec.outputType === undefined ? 0 : spec.maxOutputRetries;
  const schemas =
    spec.outputType === undefined ? 0 : (1 + corrections) * explained.estimatedInputTokens; // beside the request, and in every correction
  const said =
    (calls - 1) * (maxOutputTokens + FRAME) + (corrections + spec.guardrailRetries) * FEEDBACK;
  return {
    runId: "explain",
    taskId: planned.id,
    agentRole: explained.agentRole,
    purpose: "task",
    provider: model.provider,
    modelId: model.modelId,
    inputTokens: given + grown + schemas + said,
    outputTokens: maxOutputTokens,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    latencyMs: 0,
    attempt: 1,
    outcome: "ok",
    tags: {},
  };
}
