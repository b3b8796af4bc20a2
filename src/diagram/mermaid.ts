import type { Dag, DagTask } from "../contracts/dag.js";
import type { PlanDescription } from "../contracts/plan-description.js";
import type { DescribedPlan } from "./dag.js";
import { Flowchart, labelText, nodeKey } from "../plugins/shared/flowchart.js";
import { dagOf } from "./dag.js";

/** Returns a plan as a Mermaid flowchart. @throws ValidationError as {@link dagOf}. */
export function mermaidOf(plan: DescribedPlan): string {
  const dag = dagOf(plan);
  const { graph, phases, managed, sequential } = plan.description;
  const chart = new Flowchart();
  if (graph !== undefined) drawGraph(chart, dag);
  else if (phases !== undefined) drawPhases(chart, dag, phases);
  else if (managed === true) drawHierarchy(chart, dag);
  else drawTasks(chart, dag, sequential === true);
  return chart.toString();
}

function drawContexts(chart: Flowchart, tasks: readonly DagTask[]): void {
  for (const { id, dependsOn } of tasks) for (const context of dependsOn) chart.edge(context, id);
}

/** Solid arrows show outputs. Dotted arrows show only the order. */
function drawOrder(chart: Flowchart, tasks: readonly DagTask[]): void {
  tasks.forEach((task, i) => {
    const before = tasks[i - 1];
    if (before !== undefined && !task.dependsOn.includes(before.id))
      chart.edge(before.id, task.id, { dotted: true });
  });
}

function drawTasks(chart: Flowchart, { tasks }: Dag, sequential: boolean): void {
  for (const task of tasks) {
    if (task.loopBody === undefined) chart.task(task);
    else drawLoop(chart, task, task.loopBody);
  }
  for (const task of tasks)
    for (const context of task.dependsOn)
      chart.edge(context, task.id, { dotted: task.nodeType === "loop" });
  if (sequential) drawOrder(chart, tasks);
}

function drawLoop(chart: Flowchart, loop: DagTask, body: readonly DagTask[]): void {
  chart.group(loop.id, `loop ${loop.description}`, () => {
    for (const task of body) chart.task(task);
    drawContexts(chart, body);
    drawOrder(chart, body);
    const [first, last] = [body[0], body.at(-1)];
    if (first !== undefined && last !== undefined)
      chart.edge(last.id, first.id, {
        text: `up to ${loop.loopMaxIterations ?? 1} times`,
        dotted: true,
      });
  });
}

/** Groups show the order of the tasks of a phase: tasks of one group run in parallel. */
function drawPhases(
  chart: Flowchart,
  { tasks }: Dag,
  phases: NonNullable<PlanDescription["phases"]>,
): void {
  for (const phase of phases) {
    const own = tasks.filter((task) => task.phase === phase.name);
    const ordered = own.filter(({ nodeType }) => nodeType !== "review");
    const sequential = ordered.every(
      (task, i) => i === 0 || task.parallelGroup > (ordered[i - 1]?.parallelGroup ?? 0),
    );
    chart.group(nodeKey("phase", phase.name), `phase ${phase.name}`, () => {
      for (const task of own) chart.task(task);
      if (sequential) drawOrder(chart, ordered);
    });
  }
  drawContexts(chart, tasks);
  for (const phase of phases)
    for (const before of phase.after)
      chart.edge(nodeKey("phase", before), nodeKey("phase", phase.name), { dotted: true });
}

function drawGraph(
  chart: Flowchart,
  { tasks, graphEdges = [], graphStartStateId = "" }: Dag,
): void {
  chart.add(`${chart.nameOf(nodeKey("start"))}(["start"])`);
  for (const task of tasks) if (task.nodeType !== "graph-end") chart.task(task);
  chart.add(`${chart.nameOf("__END__")}(["end"])`);
  chart.edge(nodeKey("start"), graphStartStateId);
  for (const edge of graphEdges)
    chart.edge(edge.fromStateId, edge.toStateId, {
      text:
        edge.unconditional && edge.conditionDescription === "unconditional"
          ? undefined
          : edge.conditionDescription,
    });
}

/** The manager receives the tasks and delegates them. */
function drawHierarchy(chart: Flowchart, { tasks: all, agents }: Dag): void {
  const manager = nodeKey("manager");
  const tasks = all.filter(({ nodeType }) => nodeType !== "manager");
  for (const task of tasks) chart.task(task);
  chart.add(`${chart.nameOf(manager)}{{"Manager"}}`);
  const roles = new Set([
    ...agents.map(({ role }) => role),
    ...tasks.map(({ agentRole }) => agentRole).filter((role) => role !== "(assigned)"),
  ]);
  for (const role of roles)
    chart.add(`${chart.nameOf(nodeKey("worker", role))}(["${labelText(role)}"])`);
  drawContexts(chart, tasks);
  for (const { id } of tasks) chart.edge(id, manager);
  for (const role of roles) chart.edge(manager, nodeKey("worker", role));
}
