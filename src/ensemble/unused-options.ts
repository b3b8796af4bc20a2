import type { Agent } from "../contracts/agent.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { WorkflowExecutor } from "../contracts/executors.js";
import type { PreparedRun } from "../engine/run/prepare-run.js";
import type { Plan } from "../contracts/plan.js";
import { shortTermWindow } from "../contracts/memory.js";
import { isTool } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";

const NONE: readonly string[] = Object.freeze([]);

/** Returns the names of options without effect in this run, each with the reason. */
export function unusedOptions({ draft, workflow, settings }: PreparedRun): readonly string[] {
  const { plan, unfilled } = draft;
  return ofInputs(unfilled).concat(
    ofTasks(plan),
    ofMemory(plan),
    ofAgents(plan, workflow),
    ofWorkflow(plan.options, workflow, settings.all(Tokens.WorkflowExecutor)),
  );
}

function ofInputs(unfilled: ReadonlySet<string>): readonly string[] {
  if (unfilled.size === 0) return NONE;
  const names = [...unfilled].map((name) => `{${name}}`).join(", ");
  return [
    `Tasks made from items contain ${names}, the name of an input. Their texts are taken as they are and not filled`,
  ];
}

function ofTasks(plan: Plan): readonly string[] {
  const idle: string[] = [];
  for (const { task } of plan.tasks) {
    if (task.agent === undefined) continue;
    const add = (option: string): unknown =>
      idle.push(
        `Task '${task.description}' has its own agent, so its option '${option}' has no effect: set it on the agent`,
      );
    if (task.tools.length > 0) add("tools");
    if (task.maxIterations !== undefined) add("maxIterations");
  }
  return idle;
}

/**
 * Agents that have no task and to which no agent can delegate. Empty for a workflow without
 * `reads`, because it may use them in another way.
 */
function ofAgents(plan: Plan, workflow: WorkflowExecutor): readonly string[] {
  const { agents = [], agentSynthesizer } = plan.options;
  if (agents.length === 0 || workflow.reads === undefined) return NONE;
  if (workflow.describe?.(plan).managed === true) return NONE;
  const mayDelegate = plan.tasks.some(({ task, agent }) =>
    task.handler === undefined
      ? (agent?.allowDelegation ?? agentSynthesizer !== undefined) ||
        [...task.tools, ...(agent?.tools ?? [])].some((t) => isTool(t) && t.delegates === true)
      : isTool(task.handler),
  );
  if (mayDelegate) return NONE;
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
  const idle: string[] = [];
  if (memory.longTermMaxResults !== undefined && memory.longTerm === undefined)
    idle.push("Option 'memory.longTermMaxResults' has no effect without memory.longTerm");
  if (shortTermWindow(memory, undefined) !== undefined) return idle;
  const windowed = new Set<Agent>();
  for (const agent of agents) if (agent.shortTermWindow !== undefined) windowed.add(agent);
  for (const { agent } of tasks) if (agent?.shortTermWindow !== undefined) windowed.add(agent);
  for (const { role } of windowed)
    idle.push(`Option 'shortTermWindow' of agent '${role}' has no effect without memory.shortTerm`);
  return idle;
}

/**
 * Options that other workflows read and this workflow does not. Empty for a workflow without
 * `reads`, because it may read all options.
 */
function ofWorkflow(
  options: EnsembleOptions,
  { name, reads: own }: WorkflowExecutor,
  workflows: readonly WorkflowExecutor[],
): readonly string[] {
  if (own === undefined) return NONE;
  const isIdle = (option: keyof EnsembleOptions): boolean =>
    options[option] !== undefined && !own.includes(option);
  if (!workflows.some(({ reads }) => reads?.some(isIdle) === true)) return NONE;
  const readers = new Map<keyof EnsembleOptions, Set<string>>();
  for (const other of workflows)
    for (const option of other.reads ?? []) {
      if (!isIdle(option)) continue;
      readers.set(option, (readers.get(option) ?? new Set()).add(other.name));
    }
  return [...readers].map(
    ([option, names]) =>
      `Option '${option}' has no effect in workflow ${name}, only in ${[...names].join(", ")}`,
  );
}
