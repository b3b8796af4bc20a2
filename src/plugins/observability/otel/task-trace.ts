import type { Context } from "@opentelemetry/api";
import type { ToolCall } from "../../../contracts/chat-model.js";
import type { OpenSpan } from "./tracing.js";
import { KeyedQueue } from "../shared/keyed-queue.js";

/** A model call in progress. */
export interface OpenModelCall extends OpenSpan {
  readonly streams: boolean;
  firstChunkMs: number | undefined;
}

/** A tool call in progress, or one whose final event has not arrived. */
export interface OpenToolCall extends OpenSpan {
  readonly call: ToolCall;
  /** The number of tasks that it has caused. */
  children: number;
  end:
    | {
        readonly atMs: number;
        readonly error: Error | undefined;
        readonly failed: boolean;
        readonly text: string;
      }
    | undefined;
}

/** A task in progress: one call of `runTask` with all its attempts. */
export interface OpenTask extends OpenSpan {
  readonly taskId: string;
  readonly agentRole: string | undefined;
  readonly modelCalls: KeyedQueue<string, OpenModelCall>;
  readonly toolCalls: KeyedQueue<ToolCall, OpenToolCall>;
}

export function openTask(span: OpenSpan, taskId: string, agentRole: string | undefined): OpenTask {
  return { ...span, taskId, agentRole, modelCalls: new KeyedQueue(), toolCalls: new KeyedQueue() };
}

/**
 * Returns the parent of a task that another task caused: the tool call that caused it. Several
 * calls may be in progress. A call whose arguments contain the task and its worker is preferred,
 * then one without another task.
 */
export function placeOfChild(
  parent: OpenTask,
  agentRole: string | undefined,
  description: string,
): Context {
  const going = parent.toolCalls.values().filter((call) => call.end === undefined);
  const score = ({ call, children }: OpenToolCall): number => {
    const named = (text: string | undefined): number =>
      text !== undefined && call.arguments.includes(JSON.stringify(text).slice(1, -1)) ? 1 : 0;
    return 4 * named(description) + 2 * named(agentRole) - (children > 0 ? 1 : 0);
  };
  const [best] = going.sort((a, b) => score(b) - score(a));
  if (best === undefined) return parent.context;
  best.children++;
  return best.context;
}
