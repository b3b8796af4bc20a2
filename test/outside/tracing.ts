// Spans of runs as a plugin of another package would make them.
import type { HookRun, Plugin } from "agentensemble";
import { definePlugin } from "agentensemble";

/** One span. */
export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly parent: Span | undefined;
  readonly text: string;
  outcome: string | undefined;
}

/** Makes a span for each run, task, model call and tool call, without the secrets that their run knows. */
export function tracing(spans: Span[]): Plugin {
  const runs = new WeakMap<HookRun, Span>();
  const open = new Map<string, Span[]>();

  const begin = (run: HookRun, name: string, parent: Span | undefined, text = ""): Span => {
    const traceId = parent?.traceId ?? `trace of ${run.id}`;
    const span: Span = { name, traceId, parent, text: run.redact(text), outcome: undefined };
    spans.push(span);
    return span;
  };
  const innermost = (run: HookRun, taskId: string): Span | undefined =>
    open.get(`${run.id}/${taskId}`)?.at(-1) ?? runs.get(run);
  const push = (run: HookRun, taskId: string, name: string, text?: string): void => {
    const key = `${run.id}/${taskId}`;
    const span = begin(run, name, innermost(run, taskId), text);
    open.set(key, [...(open.get(key) ?? []), span]);
  };
  const pop = (run: HookRun, taskId: string, outcome: string): void => {
    const span = open.get(`${run.id}/${taskId}`)?.pop();
    if (span !== undefined) span.outcome = outcome;
  };

  return definePlugin({
    name: "acme-tracing",
    apply({ hooks }) {
      const before = { name: "tracing", lane: "answer", order: "post", onError: "skip" } as const;
      hooks.beforeRun.tap(({ run }) => {
        const outer = run.parent === undefined ? undefined : runs.get(run.parent);
        const span = begin(run, "run", outer);
        runs.set(run, span);
        run.setTraceId(span.traceId);
      });
      hooks.afterRun.tap(({ run, outcome }) => {
        const span = runs.get(run);
        if (span !== undefined) span.outcome = outcome;
      });
      hooks.beforeTask.tap(before, ({ run, taskId, task }) =>
        push(run, taskId, `task ${taskId}`, task.description),
      );
      hooks.afterTask.tap(({ run, taskId, outcome }) => pop(run, taskId, outcome));
      hooks.beforeLlmCall.tap(before, ({ run, taskId, model }) =>
        push(run, taskId, `chat ${model.provider}`),
      );
      hooks.afterLlmCall.tap(({ run, taskId, outcome }) => pop(run, taskId, outcome));
      hooks.beforeToolCall.tap(before, ({ run, taskId, tool, call }) =>
        push(run, taskId, `tool ${tool.name}`, call.arguments),
      );
      hooks.afterToolCall.tap(({ run, taskId, outcome }) => pop(run, taskId, outcome));
    },
  });
}
