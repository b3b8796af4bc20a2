import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { WorkflowExecutor } from "../contracts/executors.js";
import type { PreparedRun } from "../engine/run/prepare-run.js";
import type { Plan } from "../contracts/plan.js";
import { shortTermWindow } from "../contracts/memory.js";
import { isTool } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";

/** Returns the names of options without effect in this run, each with the reason. */
export function unusedOptions({ draft, workflow, settings }: PreparedRun): readonly string[] {
  const { plan, unfilled } = draft;
  const names = [...unfilled].map((name) => `{${name}}`).join(", ");
  const literal =
    names === ""
      ? []
      : [
          `Tasks made from items contain ${names}, the name of an input. Their texts are taken as they are and not filled`,
        ];
  return [
    ...literal,
    ...ofTasks(plan),
    ...ofMemory(plan),
    ...ofAgents(plan, workflow),
    ...ofWorkflow(plan.options, workflow, settings.all(Tokens.WorkflowExecutor)),
  ];
}

function ofTasks(plan: Plan): readonly string[] {
  return plan.tasks.flatMap(({ task }) => {
    if (task.agent === undefined) return [];
    const options = [
      ...(task.tools.length > 0 ? ["tools"] : []),
      ...(task.maxIterations !== undefined ? ["maxIterations"] : []),
    ];
    return options.map(
      (option) =>
        `Task '${task.description}' has its own agent, so its option '${option}' has no effect: set it on the agent`,
    );
  });
}

/**
 * Agents that have no task and to which no agent can delegate. Empty for a workflow without
 * `reads`, which may use them in another way.
 */
function ofAgents(plan: Plan, workflow: WorkflowExecutor): readonly string[] {
  const { agents = [], agentSynthesizer } = plan.options;
  if (agents.length === 0 || workflow.reads === undefined) return [];
  if (workflow.describe?.(plan).managed === true) return [];
  const mayDelegate = plan.tasks.some(({ task, agent }) =>
    task.handler === undefined
      ? (agent?.allowDelegation ?? agentSynthesizer !== undefined) ||
        [...task.tools, ...(agent?.tools ?? [])].some((t) => isTool(t) && t.delegates === true)
      : isTool(task.handler),
  );
  if (mayDelegate) return [];
  const busy = new Set(plan.tasks.map(({ agent }) => agent));
  return agents
    .filter((agent) => !busy.has(agent))
    .map(
      ({ role }) =>
        `Agent '${role}' is never used: it has no task, and no agent of workflow ${workflow.name} may delegate to it. Set allowDelegation on an agent that has a task`,
    );
}

function ofMemory({ options, tasks }: Plan): readonly string[] {
  const { memory = {}, agents = [] } = options;
  const idle = memory.longTermMaxResults !== undefined && memory.longTerm === undefined;
  const windowed = new Set(
    shortTermWindow(memory, undefined) === undefined
      ? [...agents, ...tasks.flatMap(({ agent }) => agent ?? [])]
      : [],
  );
  return [
    ...(idle ? ["Option 'memory.longTermMaxResults' has no effect without memory.longTerm"] : []),
    ...[...windowed].flatMap(({ role, shortTermWindow: window }) =>
      window === undefined
        ? []
        : [`Option 'shortTermWindow' of agent '${role}' has no effect without memory.shortTerm`],
    ),
  ];
}

/**
 * Options that other workflows read and this workflow does not. Empty for a workflow without
 * `reads`, which may read all options.
 */
function ofWorkflow(
  options: EnsembleOptions,
  { name, reads: own }: WorkflowExecutor,
  workflows: readonly WorkflowExecutor[],
): readonly string[] {
  if (own === undefined) return [];
  const readers = new Map<keyof EnsembleOptions, Set<string>>();
  for (const other of workflows)
    for (const option of other.reads ?? []) {
      if (options[option] === undefined || own.includes(option)) continue;
      readers.set(option, (readers.get(option) ?? new Set()).add(other.name));
    }
  return [...readers].map(
    ([option, names]) =>
      `Option '${option}' has no effect in workflow ${name}, only in ${[...names].join(", ")}`,
  );
}
