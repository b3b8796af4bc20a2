import type { ExplainedTask, Explanation } from "../contracts/ensemble-options.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { Run } from "../contracts/run.js";
import type { Inputs } from "../contracts/types.js";
import type { Settings } from "../engine/plan/settings.js";
import type { TaskDetails } from "./model.js";
import { ValidationError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { costBoundOf } from "./cost-bound.js";
import { assignmentsOf, delegationsOf } from "./explain-team.js";
import { TaskExplainer } from "./explain-task.js";
import { formatterOf } from "../engine/gateways/prompt-format.js";
import { describeTasks } from "../plugins/workflows/shared/describe-tasks.js";
import { prepareRun } from "../engine/run/prepare-run.js";
import { canonicalRole } from "../contracts/role.js";

function refused(what: string): never {
  throw new ValidationError(`explain() ${what}`, {
    hint: "A synthesizer that needs it must declare usesModel: true.",
  });
}

/** A run for synthesizers and workflows that read values. It allows no actions. */
function explainedRun(plan: Plan, settings: Settings, inputs: Inputs): Run {
  const noTasks = (): never => refused("runs no task");
  const agents = [
    ...(plan.options.agents ?? []),
    ...plan.tasks.flatMap((task) => task.agent ?? []),
  ];
  return {
    id: "explain",
    signal: new AbortController().signal,
    inputs,
    tags: {},
    plan,
    workers: agents.filter(
      (agent, i) =>
        agents.findIndex((other) => canonicalRole(other.role) === canonicalRole(agent.role)) === i,
    ),
    runTask: async () => noTasks(),
    runWorkflow: async () => noTasks(),
    agentOf: async () => noTasks(),
    define: noTasks,
    reportWorkflow: noTasks,
    emit: () => undefined,
    listens: () => false,
    get: (token) => settings.get(token),
    find: (token) => settings.find(token),
    all: (token) => settings.all(token),
  };
}

/** A manager may delegate a listed task as often as any other task. */
function doneAtMost(task: ExplainedTask, times: number): ExplainedTask {
  return times === 1 ? task : { ...task, maxModelCalls: task.maxModelCalls * times };
}

/**
 * Returns the plan and the first prompt of every task, with token estimates and an upper bound of
 * the cost. No model, tool or tap is called.
 */
export async function explain(request: Parameters<typeof prepareRun>[0]): Promise<Explanation> {
  const { options, inputs } = request;
  const { draft, settings, workflow } = prepareRun(request);
  await formatterOf(settings); // as run(): refuses an unknown format
  const run = explainedRun(draft.plan, settings, inputs);
  const description = workflow.describe?.(draft.plan) ?? describeTasks(draft.plan);
  const explainer = new TaskExplainer(settings, run, description);
  const added = (workflow.preview?.(draft.plan, run) ?? []).map((task, i): PlannedTask => {
    return {
      id: task.name ?? `task-${draft.plan.tasks.length + i + 1}`,
      task,
      contextIds: [],
      agent: task.agent,
    };
  });
  const listed: TaskDetails[] = [];
  for (const task of draft.plan.tasks) listed.push(await explainer.explain(task));
  const others: TaskDetails[] = [];
  for (const task of added) others.push(await explainer.explain(task));
  const [manager] = others;
  const delegations =
    description.managed === true && manager !== undefined
      ? delegationsOf(manager, explainer)
      : undefined;
  const prices = settings.find(Tokens.CostConfiguration);
  let bound: ReturnType<typeof costBoundOf> = { unbounded: [] };
  if (prices !== undefined && delegations !== undefined && manager !== undefined)
    bound = costBoundOf(others, options, prices, {
      manager,
      delegations,
      assignments: await assignmentsOf(draft.plan, listed, explainer),
    });
  else if (prices !== undefined) bound = costBoundOf([...listed, ...others], options, prices);
  const tasks = [
    ...listed.map(({ explained }) => doneAtMost(explained, delegations ?? 1)),
    ...others.map(({ explained }) => explained),
  ];
  return {
    workflow: workflow.name,
    tasks,
    estimatedInputTokens: tasks.reduce((sum, t) => sum + t.estimatedInputTokens, 0),
    ...bound,
  };
}
