import type { Dag, DagEdge, DagTask } from "../../../src/contracts/dag.js";
import type { RunView, TaskState } from "../../../src/plugins/dashboard/protocol/state-types.js";

/** A task, or many tasks of one kind. */
export interface GraphNode {
  readonly id: string;
  readonly box: string | undefined;
  /** Ids of its tasks. A single task has only its own id. */
  readonly tasks: readonly string[];
  /** For many tasks: their common properties. */
  readonly group?: { readonly kind: string; readonly level: number } | undefined;
  /** The number of hidden tasks that the node caused. */
  readonly folded: number;
}

/** `transition`: a transition of a state machine. Other kinds as in the plan. */
export type GraphEdgeKind = "context" | "order" | "repeat" | "delegation" | "transition";

export interface GraphEdge {
  /** Ids of nodes or boxes. */
  readonly from: string;
  readonly to: string;
  readonly kind: GraphEdgeKind;
  /** The condition of a transition. */
  readonly label?: string | undefined;
  /** Whether the run made the transition. */
  readonly isFired?: boolean | undefined;
}

/** A phase, or a loop whose task has the same id. */
export interface GraphBox {
  readonly id: string;
  readonly kind: "phase" | "loop";
  readonly title: string;
}

export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly boxes: readonly GraphBox[];
  /** The state with which a state machine begins. */
  readonly start: string | undefined;
  /** A key that changes when nodes have to be placed again. */
  readonly key: string;
}

/** Above this number, the tasks of each level and kind are drawn as one node. */
export const MAX_NODES = 300;
/** The description of an edge without a condition and a label. */
const UNCONDITIONAL = "unconditional";
/** Above this number, the delegated tasks of a task are shown as a number. */
const MAX_DELEGATED = 3;

/** Returns the graph of a run: the plan, and the tasks added by delegations. */
export function graphModel(view: Pick<RunView, "dag" | "tasks">): GraphModel {
  const { dag, tasks } = view;
  const boxes = new Map<string, GraphBox>();
  const boxOf = new Map<string, string | undefined>();
  for (const task of dag?.tasks ?? []) addPlanned(task, boxes, boxOf);
  const folded = addDelegated(tasks, boxes, boxOf);
  const edges = edgesOf(dag, tasks, boxOf);
  const nodes = [...boxOf].map(([id, box]): GraphNode => ({
    id,
    box,
    tasks: [id],
    folded: folded.get(id) ?? 0,
  }));
  const start = dag?.graphStartStateId;
  const plain = { nodes, edges, boxes: [...boxes.values()], start };
  const drawn = nodes.length > MAX_NODES ? grouped(plain, tasks) : plain;
  return { ...drawn, key: keyOf(drawn) };
}

function addPlanned(
  { id, phase, loopBody }: DagTask,
  boxes: Map<string, GraphBox>,
  boxOf: Map<string, string | undefined>,
): void {
  if (loopBody !== undefined) {
    boxes.set(id, { id, kind: "loop", title: id.replace(/^\$loop:/, "") });
    for (const part of loopBody) boxOf.set(part.id, id);
    return;
  }
  const box = phase === undefined ? undefined : `phase:${phase}`;
  if (box !== undefined && phase !== undefined && !boxes.has(box))
    boxes.set(box, { id: box, kind: "phase", title: phase });
  boxOf.set(id, box);
}

/**
 * Adds tasks outside the plan to the box of the task that caused them. Returns the number of
 * omitted tasks by that task.
 */
function addDelegated(
  tasks: RunView["tasks"],
  boxes: ReadonlyMap<string, GraphBox>,
  boxOf: Map<string, string | undefined>,
): ReadonlyMap<string, number> {
  const children = new Map<string, string[]>();
  for (const { id, parent, type } of tasks.values()) {
    if (boxOf.has(id) || boxes.has(id) || type === "loop") continue;
    if (parent === undefined || !tasks.has(parent)) boxOf.set(id, undefined);
    else children.set(parent, [...(children.get(parent) ?? []), id]);
  }
  const folded = new Map<string, number>();
  const hang = (parent: string): void => {
    const ids = children.get(parent) ?? [];
    if (ids.length > MAX_DELEGATED) {
      folded.set(parent, ids.length);
      return;
    }
    for (const id of ids) {
      if (boxOf.has(id)) continue;
      boxOf.set(id, boxOf.get(parent));
      hang(id);
    }
  };
  for (const parent of [...boxOf.keys()]) hang(parent);
  return folded;
}

function edgesOf(
  dag: Dag | undefined,
  tasks: RunView["tasks"],
  boxOf: ReadonlyMap<string, string | undefined>,
): readonly GraphEdge[] {
  const links = dag?.edges.map(({ fromTaskId, toTaskId, kind }) => ({
    from: fromTaskId,
    to: toTaskId,
    kind,
  }));
  const planned = new Set(
    dag?.tasks.flatMap((task) => [task, ...(task.loopBody ?? [])].map(({ id }) => id)),
  );
  const added = [...tasks.values()].filter(({ id }) => !planned.has(id) && boxOf.has(id));
  const edges = new Map<string, GraphEdge>();
  for (const edge of [
    ...(dag?.graphEdges ?? []).map(transition),
    ...(links ?? []),
    ...added.flatMap((task) => edgesTo(task, tasks)),
  ]) {
    const key = `${edge.from}\0${edge.to}`;
    // An edge with an output takes precedence over an edge of order.
    if (edges.get(key)?.kind !== "context") edges.set(key, edge);
  }
  return [...edges.values()];
}

function transition(edge: DagEdge): GraphEdge {
  const { fromStateId, toStateId, conditionDescription, fired, unconditional } = edge;
  const label = unconditional && conditionDescription === UNCONDITIONAL ? "" : conditionDescription;
  return { from: fromStateId, to: toStateId, kind: "transition", label, isFired: fired };
}

/** Returns the edges to a task that is not in the plan. */
function edgesTo(
  { id, parent, deps, after }: TaskState,
  tasks: RunView["tasks"],
): readonly GraphEdge[] {
  const from = (ids: readonly string[], kind: GraphEdgeKind): readonly GraphEdge[] =>
    ids.map((before) => ({ from: before, to: id, kind }));
  const parents = parent !== undefined && tasks.has(parent) ? [parent] : [];
  return [...from(parents, "delegation"), ...from(deps, "context"), ...from(after, "order")];
}

type Drawn = Omit<GraphModel, "key">;

/** Returns one node for each box, level and kind. */
function grouped({ nodes, edges, boxes, start }: Drawn, tasks: RunView["tasks"]): Drawn {
  const groups = new Map<string, { box: string | undefined; ids: string[]; first: TaskState }>();
  const groupOf = new Map<string, string>();
  for (const { id, box } of nodes) {
    const task = tasks.get(id);
    if (task === undefined) continue;
    const key = `group:${box ?? ""}:${task.level}:${task.type}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { box, ids: [id], first: task });
    else group.ids.push(id);
    groupOf.set(id, key);
  }
  for (const { ids, first } of groups.values()) if (ids.length === 1) groupOf.delete(first.id);
  const merged = new Map<string, GraphEdge>();
  for (const edge of edges) {
    const from = groupOf.get(edge.from) ?? edge.from;
    const to = groupOf.get(edge.to) ?? edge.to;
    const key = `${from}\0${to}`;
    if (from !== to && merged.get(key)?.kind !== "context")
      merged.set(key, { from, to, kind: edge.kind });
  }
  return {
    nodes: [...groups].map(([key, { box, ids, first }]) =>
      // A single task keeps its node.
      ids.length === 1
        ? { id: first.id, box, tasks: ids, folded: 0 }
        : {
            id: key,
            box,
            tasks: ids,
            group: { kind: first.type, level: first.level },
            folded: 0,
          },
    ),
    edges: [...merged.values()],
    boxes,
    start,
  };
}

/**
 * Returns a key of all data that determine the positions. The number of tasks of a group has no
 * influence.
 */
function keyOf({ nodes, edges, boxes }: Drawn): string {
  return [
    nodes.map(({ id, box = "" }) => `${id}\t${box}`).join("\n"),
    edges.map(({ from, to, kind }) => `${from}\t${to}\t${kind}`).join("\n"),
    boxes.map(({ id }) => id).join("\n"),
  ].join("\0");
}
