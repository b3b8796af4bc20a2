// A journal in the form of a plugin of another package. A repeated run answers finished steps from
// the journal of its id.
import type {
  ChatResponse,
  HookRun,
  LlmCall,
  MemoryEntry,
  Plugin,
  RestoredCall,
  SpentUsage,
  TaskAnswer,
  ToolCallContext,
  ToolResult,
} from "agentensemble";
import { RunSuspendedError, answer, definePlugin, replace, resumeOf } from "agentensemble";

/** The journal of one run, which remains after the process. */
export interface Kept {
  readonly tasks: Map<string, TaskAnswer>;
  readonly calls: Map<string, RestoredCall>;
  readonly tools: Map<string, ToolResult | "begun">;
  readonly writes: Map<string, MemoryEntry>;
  readonly usage: SpentUsage[];
}

export function emptyJournal(): Kept {
  return {
    tasks: new Map(),
    calls: new Map(),
    tools: new Map(),
    writes: new Map(),
    usage: [],
  };
}

const name = "acme-journal";

/** Ends the run until a user has settled the call. @throws RunSuspendedError */
function suspend({ run, taskId, agentRole, tool, idempotencyKey: key }: ToolCallContext): never {
  const waitsFor = `Whether ${key} was done is in doubt`;
  run.emit({ type: "call_in_doubt", taskId, agentRole, key, toolName: tool.name });
  run.emit({ type: "run_suspended", waitsFor });
  throw new RunSuspendedError(waitsFor);
}

/**
 * Stores the steps of a run in `kept`. `onEntry` is called before each entry, and may end the
 * process.
 */
export function journal(kept: Kept, onEntry: (run: HookRun) => void = () => undefined): Plugin {
  const places = new Map<string, string>();
  const parents = new Set<string>();
  const toolCounts = new Map<string, number>();
  const seen = new Map<string, number>();
  const restored = new WeakMap<object, RestoredCall>();
  const put = <T>(run: HookRun, entries: Map<string, T>, key: string, entry: T): void => {
    onEntry(run);
    entries.set(key, entry);
  };
  const callKey = ({ taskId, taskAttempt, purpose, iteration }: LlmCall): string =>
    `${places.get(taskId) ?? `${taskId}@${taskAttempt}`}/${purpose}/${iteration}`;
  const toolKey = ({ run, idempotencyKey }: ToolCallContext): string =>
    idempotencyKey.slice(run.id.length);
  return definePlugin({
    name,
    apply({ hooks }) {
      hooks.beforeRun.tap({ name, order: "pre" }, ({ run }) => {
        run.spent(kept.usage.map((usage) => ({ ...usage, restored: true })));
        const restoredCalls = kept.calls.size + kept.tools.size + kept.writes.size;
        if (restoredCalls > 0)
          run.emit({ type: "run_resumed", execution: 2, finishedTasks: kept.tasks.size, restoredCalls }); // prettier-ignore
      });
      hooks.beforeTask.tap({ name, lane: "transform", order: "pre" }, (call) => {
        places.set(call.taskId, `${call.identity}@${call.attempt}`);
        if (call.parentTaskId !== undefined)
          parents.add(places.get(call.parentTaskId) ?? call.parentTaskId);
      });
      hooks.beforeTask.tap({ name, lane: "answer", order: "pre" }, (call) => {
        const done = kept.tasks.get(`${call.identity}@${call.attempt}`);
        return done === undefined ? undefined : answer(done);
      });
      hooks.afterTask.tap({ name, lane: "commit", order: "post" }, (call) => {
        const place = `${call.identity}@${call.attempt}`;
        if (call.output === undefined || parents.has(place)) return; // the task delegated: its calls are answered one by one
        const calls = [...kept.calls].flatMap(([key, entry]) =>
          key.startsWith(`${place}/`) ? [entry] : [],
        );
        const { raw, parsed } = call.output;
        put(call.run, kept.tasks, place, {
          raw,
          parsed,
          calls,
          toolCallCount: toolCounts.get(place) ?? 0,
        });
      });
      hooks.beforeLlmCall.tap({ name, lane: "transform" }, (call) => {
        const known = kept.calls.get(callKey(call));
        if (known === undefined) return undefined;
        const { provider, modelId, response } = known;
        const capabilities = { exemptFromBudgets: true, exemptFromRateLimits: true };
        const model = { provider, modelId, capabilities, chat: () => Promise.resolve(response) };
        restored.set(model, known);
        return replace({ model });
      });
      hooks.beforeLlmCall.tap({ name, lane: "answer", order: "pre" }, ({ model }) => {
        const known = restored.get(model);
        return known === undefined ? undefined : answer<ChatResponse>(known.response);
      });
      hooks.afterLlmCall.tap({ name, lane: "transform", order: "pre" }, (call) => {
        if (call.outcome !== "ok") return;
        const { provider, modelId } = call.model;
        const { purpose, iteration, response, run } = call;
        put(run, kept.calls, callKey(call), { provider, modelId, purpose, iteration, response });
        kept.usage.push({ provider, modelId, purpose, ...response.usage });
      });
      hooks.beforeToolCall.tap({ name, lane: "answer", order: "pre" }, (call) => {
        const place = places.get(call.taskId) ?? "";
        toolCounts.set(place, (toolCounts.get(place) ?? 0) + 1);
        const result = call.tool.delegates === true ? undefined : kept.tools.get(toolKey(call));
        if (result === "begun" && resumeOf(call.tool, call.input) !== "again") suspend(call);
        return result === undefined || result === "begun" ? undefined : answer(result);
      });
      hooks.beforeToolCall.tap({ name, lane: "answer", order: "post" }, (call) => {
        if (resumeOf(call.tool, call.input) !== "again")
          put(call.run, kept.tools, toolKey(call), "begun");
      });
      hooks.afterToolCall.tap({ name, lane: "transform", order: "pre" }, (call) => {
        if (call.outcome === "ok") put(call.run, kept.tools, toolKey(call), call.result);
      });
      const writeKey = (scope: string, taskId: string): string => {
        const base = `${places.get(taskId) ?? taskId}/${scope}`;
        const n = (seen.get(base) ?? 0) + 1;
        seen.set(base, n);
        return `${base}~${n}`;
      };
      const written = new WeakMap<object, string>();
      hooks.beforeMemoryWrite.tap({ name, lane: "answer", order: "pre" }, (call) => {
        const key = writeKey(call.scope, call.taskId);
        written.set(call.entry, key);
        return kept.writes.has(key) ? answer(call.entry) : undefined;
      });
      hooks.afterMemoryWrite.tap({ name, lane: "transform", order: "pre" }, (call) => {
        const key = call.outcome === "ok" ? written.get(call.entry) : undefined;
        if (key !== undefined && call.outcome === "ok") put(call.run, kept.writes, key, call.entry);
      });
    },
  });
}
