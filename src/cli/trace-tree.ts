import type { Paint, Style } from "../plugins/observability/console/terminal-text.js";
import type {
  CallView,
  DelegationView,
  SpentInTrace,
  TaskView,
  ToolView,
  TraceView,
} from "./trace-view.js";
import {
  readableCount,
  readableDuration,
  readableRole,
} from "../plugins/observability/console/terminal-text.js";
import { printableText, printableLine } from "../util/printable.js";
import { counted } from "../util/text.js";

/** A line and the lines below it. */
interface TreeNode {
  readonly text: string;
  readonly below: readonly TreeNode[];
}

const GOOD = new Set(["ok", "answered", "SUCCESS", "COMPLETED"]);

/** Formats `1.2 s`, or `?` for an unknown duration. */
export function timeText(ms: number): string {
  return ms < 0 ? "?" : readableDuration(ms);
}

/** Returns `0.0123 USD`, `at least 0.0123 USD`, or an empty text. */
export function costText(cost: SpentInTrace["cost"]): string {
  if (cost === null) return "";
  const currency = cost.currency === "" ? "" : ` ${printableLine(cost.currency, 10)}`;
  return `${cost.atLeast ? "at least " : ""}${Number(cost.amount.toPrecision(4))}${currency}`;
}

function spentText({ inputTokens, outputTokens, cost }: SpentInTrace): string {
  const price = costText(cost);
  return `${readableCount(inputTokens)} in, ${readableCount(outputTokens)} out${price === "" ? "" : `, ${price}`}`;
}

/** Maximum nesting of delegations. */
const DEEPEST = 200;

/** Returns the ids of tasks of the run that a task delegated to others. */
function workerIds({ delegations }: TaskView): readonly string[] {
  return delegations.flatMap(({ worker, workerTaskId }) =>
    worker !== null ? workerIds(worker) : (workerTaskId ?? []),
  );
}

/** Creates the lines of a tree. */
class TreeMaker {
  readonly #paint: Paint;
  /** Attempts of tasks in delegations of other tasks, by id. Drawn attempts are removed. */
  readonly #workers = new Map<string, readonly TaskView[]>();
  #depth = 0;

  /** @param tasks the tasks that contain the workers of managers. */
  constructor(paint: Paint, tasks: readonly TaskView[]) {
    this.#paint = paint;
    const ids = new Set(tasks.flatMap(workerIds));
    for (const task of tasks)
      if (ids.has(task.taskId))
        this.#workers.set(task.taskId, [...(this.#workers.get(task.taskId) ?? []), task]);
  }

  /**
   * Draws each task once. Workers are below their delegation. Workers of tasks that are not drawn
   * are at the end.
   */
  tasks(tasks: readonly TaskView[]): readonly TreeNode[] {
    const isWorker = ({ taskId }: TaskView): boolean => this.#workers.has(taskId);
    const [workers, others] = [tasks.filter(isWorker), tasks.filter((task) => !isWorker(task))];
    const nodes = others.map((task) => this.task(task));
    const left = workers.flatMap(({ taskId }) => this.#takeWorkers(taskId));
    return [...nodes, ...left];
  }

  #takeWorkers(id: string | null): readonly TreeNode[] {
    const workers = id === null ? undefined : this.#workers.get(id);
    if (id === null || workers === undefined || this.#depth >= DEEPEST) return [];
    this.#workers.delete(id);
    this.#depth++;
    const nodes = workers.map((worker) => this.task(worker));
    this.#depth--;
    return nodes;
  }

  task(task: TaskView): TreeNode {
    const attempt = task.attempt > 1 ? ` attempt ${task.attempt}` : "";
    const role = readableRole(task.agentRole);
    const name = this.#paint(
      "bold",
      `${printableLine(task.taskId, 60)}${role === "" ? "" : ` ${role.startsWith("(") ? role : `(${role})`}`}`,
    );
    const output =
      task.output === null
        ? []
        : [
            {
              text: `${this.#paint("dim", "output")} ${printableLine(task.output, 100)}`,
              below: [],
            },
          ];
    return {
      text: `${name}${attempt} ${this.#outcome(task.outcome)} ${timeText(task.durationMs)}, ${spentText(task)}`,
      below: [
        ...task.calls.map((call, i) => this.#call(call, i)),
        ...task.tools.map((tool) => this.#tool(tool)),
        ...task.delegations.map((delegation) => this.#delegation(delegation)),
        ...output,
      ],
    };
  }

  #call(call: CallView, index: number): TreeNode {
    const attempt = call.attempt > 1 ? ` attempt ${call.attempt}` : "";
    const purpose =
      call.purpose === "" || call.purpose === "task"
        ? ""
        : ` for ${printableLine(call.purpose, 30)}`;
    const end =
      call.error === null
        ? call.responseType === "TOOL_CALLS"
          ? `asked for ${counted(call.tools.length, "tool")}`
          : "answered"
        : this.#bad(call.error);
    return {
      text: `call ${index + 1}${attempt}${purpose} ${printableLine(call.model, 60)} ${timeText(call.durationMs)}, ${spentText(call)}: ${end}`,
      below: call.tools.map((tool) => this.#tool(tool)),
    };
  }

  #tool(tool: ToolView): TreeNode {
    const failed = !GOOD.has(tool.outcome);
    const text = `tool ${printableLine(tool.tool, 60)} ${this.#outcome(tool.outcome)} ${timeText(tool.durationMs)} ${this.#paint("dim", printableLine(tool.arguments, 80))}`;
    return {
      text: failed ? `${text}: ${this.#bad(tool.result)}` : text,
      below: tool.parts.map((line) => ({ text: printableLine(line, 200), below: [] })),
    };
  }

  #delegation(delegation: DelegationView): TreeNode {
    const outcome = delegation.succeeded ? this.#outcome("ok") : this.#bad(delegation.result);
    const route = `${printableLine(delegation.from, 40)} -> ${printableLine(delegation.to, 40)}`;
    const what = delegation.mode === "handoff" ? "transfer" : "delegation";
    return {
      text: `${what} ${route} ${timeText(delegation.durationMs)} ${this.#paint("dim", printableLine(delegation.description, 80))}: ${outcome}`,
      below:
        delegation.worker === null
          ? this.#takeWorkers(delegation.workerTaskId)
          : [this.task(delegation.worker)],
    };
  }

  #outcome(outcome: string): string {
    return this.#paint(GOOD.has(outcome) ? "green" : "red", printableLine(outcome, 30));
  }

  #bad(text: string): string {
    return this.#paint("red", printableLine(text, 200));
  }
}

function draw(nodes: readonly TreeNode[], indent: string): readonly string[] {
  return nodes.flatMap(({ text, below }, i) => {
    const last = i === nodes.length - 1;
    return [
      `${indent}${last ? "└─ " : "├─ "}${text}`,
      ...draw(below, `${indent}${last ? "   " : "│  "}`),
    ];
  });
}

function styleOf(exitReason: string): Style {
  return exitReason === "COMPLETED" ? "green" : exitReason === "ERROR" ? "red" : "yellow";
}

/**
 * Formats a trace as a tree: tasks, their model calls, tools and delegations, and then the errors.
 * The workers of managers are drawn below the delegation. `workers` contains them.
 */
export function traceTree(
  trace: TraceView,
  paint: Paint,
  workers: readonly TaskView[] = trace.tasks,
): string {
  const maker = new TreeMaker(paint, workers);
  const end =
    trace.exitReason === ""
      ? ""
      : ` ${paint(styleOf(trace.exitReason), printableLine(trace.exitReason, 30))}`;
  const capture =
    trace.captureMode === "" ? "" : `, capture ${printableLine(trace.captureMode, 30)}`;
  const head = `${paint("bold", `run ${printableLine(trace.runId, 80) || "?"}`)} ${printableLine(trace.workflow, 60) || "?"}${end} ${timeText(trace.durationMs)}, ${spentText(trace)}${capture}`;
  const errors = trace.errors.map(({ taskId, type, code, message }) => {
    return `${paint("red", printableLine(code ?? type, 60))}${taskId === null ? "" : ` in ${printableLine(taskId, 60)}`}: ${printableLine(message, 400)}`;
  });
  return [
    head,
    ...draw(maker.tasks(trace.tasks), ""),
    ...(errors.length > 0 ? ["", ...errors] : []),
  ].join("\n");
}

/** Formats the complete texts of a task: its prompts and its answers. */
export function taskTexts(task: TaskView, paint: Paint): string {
  const parts: readonly (readonly [string, string | undefined])[] = [
    ["Description", task.description],
    ["System prompt", task.prompts?.system],
    ["User prompt", task.prompts?.user],
    ["Output", task.output ?? undefined],
  ];
  const shown = parts.flatMap(([title, text]) =>
    text === undefined || text === "" ? [] : [paint("bold", title), printableText(text), ""],
  );
  return [paint("bold", `--- ${printableLine(task.taskId, 60)}, attempt ${task.attempt}`), ...shown]
    .join("\n")
    .trimEnd();
}
