// Spans and metrics of runs in the form of a plugin of another package.
import { randomBytes } from "node:crypto";
import type { Clock, HookRun, Plugin, RunInfo, TaskCall } from "agentensemble";
import { definePlugin, Tokens } from "agentensemble";

/** One span. */
export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: Span | undefined;
  readonly text: string;
  readonly startedMs: number;
  outcome: string | undefined;
}

/** The position in a run: the context of a tool or of a handler. */
export type Place = {
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
} & ({ readonly runId: string } | { readonly run: Pick<RunInfo, "id"> });

/** The plugin with its records. */
export interface Tracing extends Plugin {
  readonly spans: readonly Span[];
  /** The values of each metric, by its name; durations in seconds. */
  readonly metrics: ReadonlyMap<string, readonly number[]>;
  /**
   * The span of a tool call, else of a task, as a `traceparent` header. `undefined` if there is
   * none.
   */
  traceparent(place: Place): string | undefined;
}

/**
 * Creates a span for each run, task, model call and tool call, without the known secrets of their
 * run.
 */
export function tracing(): Tracing {
  const spans: Span[] = [];
  const metrics = new Map<string, number[]>();
  /** Open spans in the order of their start, by an object or a text that only the step has. */
  const open = new Map<unknown, Span>();
  const runs = new WeakMap<HookRun, Span>();
  let clock: Clock | undefined;

  const nowMs = (): number => clock?.monotonicMs() ?? 0;
  const record = (name: string, value: number): void => {
    metrics.set(name, [...(metrics.get(name) ?? []), value]);
  };
  const begin = (key: unknown, run: HookRun, name: string, parent?: Span, text = ""): Span => {
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    const ids = { traceId, spanId: randomBytes(8).toString("hex") };
    const startedMs = nowMs();
    const span = { name, ...ids, parent, text: run.redact(text), startedMs, outcome: undefined };
    spans.push(span);
    open.set(key, span);
    return span;
  };
  const end = (key: unknown, outcome: string, metric?: string): void => {
    const span = open.get(key);
    if (span === undefined) return;
    open.delete(key);
    span.outcome = outcome;
    if (metric !== undefined)
      record(`gen_ai.${metric}.duration`, (nowMs() - span.startedMs) / 1000);
  };
  const taskKey = (runId: string, taskId: string): string => `${runId}/${taskId}`;
  const toolKey = (runId: string, taskId: string, id: string): string =>
    `${taskKey(runId, taskId)}/${id}`;
  const spanOf = (run: HookRun, taskId: string): Span | undefined =>
    open.get(taskKey(run.id, taskId)) ?? runs.get(run);
  /** The last open span below a span, else the span itself, which may have started a run. */
  const innermost = (span: Span | undefined): Span | undefined =>
    [...open.values()].filter((other) => isBelow(other, span)).at(-1) ?? span;

  const beginRun = (run: HookRun): void => {
    const outer = run.parent === undefined ? undefined : innermost(runs.get(run.parent));
    const span = begin(run, run, "invoke_workflow", outer);
    runs.set(run, span);
    run.setTraceId(span.traceId);
  };
  const beginTask = ({ run, taskId, parentTaskId, task, agent }: TaskCall): void => {
    const key = taskKey(run.id, taskId);
    if (open.has(key)) return; // a further attempt
    const parent = parentTaskId === undefined ? undefined : open.get(taskKey(run.id, parentTaskId));
    const name = agent === undefined ? `run_task ${taskId}` : `invoke_agent ${agent.role}`;
    begin(key, run, name, innermost(parent) ?? runs.get(run), task.description);
  };
  const endTask = (runId: string, taskId: string, outcome: string): void => {
    const key = taskKey(runId, taskId);
    const isAgent = open.get(key)?.name.startsWith("invoke_agent") === true;
    end(key, outcome, isAgent ? "invoke_agent" : undefined);
  };

  return definePlugin({
    name: "acme-tracing",
    spans,
    metrics,
    traceparent(place) {
      const { taskId = "", toolCallId = "" } = place;
      const id = "run" in place ? place.run.id : place.runId;
      const span = open.get(toolKey(id, taskId, toolCallId)) ?? open.get(taskKey(id, taskId));
      return span === undefined ? undefined : `00-${span.traceId}-${span.spanId}-01`;
    },
    start(ctx) {
      clock = ctx.get(Tokens.Clock);
    },
    apply({ hooks, events }) {
      const first = { name: "tracing", order: "pre", onError: "skip" } as const;
      const before = { name: "tracing", lane: "answer", order: "post", onError: "skip" } as const;
      hooks.beforeRun.tap({ ...first, lane: "policy" }, ({ run }) => beginRun(run));
      hooks.afterRun.tap(({ run, outcome }) => end(run, outcome, "workflow"));
      hooks.beforeTask.tap({ ...first, lane: "transform" }, beginTask);
      events.on((e) => {
        if (e.type === "task_completed") endTask(e.runId, e.taskId, "ok");
        if (e.type === "task_failed") endTask(e.runId, e.taskId, "failed");
      });
      hooks.beforeLlmCall.tap(before, ({ run, taskId, model, request }) => {
        begin(request, run, `chat ${model.modelId}`, spanOf(run, taskId));
      });
      hooks.afterLlmCall.tap({ ...first, lane: "transform" }, ({ request, outcome, response }) => {
        end(request, outcome, "client.operation");
        for (const tokens of [response?.usage?.inputTokens, response?.usage?.outputTokens])
          if (tokens !== undefined) record("gen_ai.client.token.usage", tokens);
      });
      hooks.beforeToolCall.tap(before, ({ run, taskId, tool, call }) => {
        const key = toolKey(run.id, taskId, call.id);
        begin(key, run, `execute_tool ${tool.name}`, spanOf(run, taskId), call.arguments);
      });
      hooks.afterToolCall.tap({ ...first, lane: "transform" }, ({ run, taskId, call, outcome }) =>
        end(toolKey(run.id, taskId, call.id), outcome, "execute_tool"),
      );
    },
  } satisfies Tracing);
}

function isBelow(span: Span | undefined, ancestor: Span | undefined): boolean {
  if (span === undefined || ancestor === undefined) return false;
  return span === ancestor || isBelow(span.parent, ancestor);
}
