import type { EnsembleEvent, Ev } from "../../../contracts/events.js";

type UsageEvent = Ev<"usage_recorded">;
/** All fields of the event, so that the compiler reports a missing field. */
type AllFields = { readonly [Name in keyof Required<UsageEvent>]: UsageEvent[Name] };

/**
 * Returns an event in a form that takes little memory. V8 stores an object with as many copied
 * fields as `usage_recorded` as a table of 1.6 kB.
 */
export function keptEvent(event: EnsembleEvent): EnsembleEvent {
  if (event.type !== "usage_recorded") return event;
  const kept: AllFields = {
    v: event.v,
    seq: event.seq,
    runId: event.runId,
    at: event.at,
    type: event.type,
    taskId: event.taskId,
    parentTaskId: event.parentTaskId,
    agentRole: event.agentRole,
    purpose: event.purpose,
    provider: event.provider,
    modelId: event.modelId,
    inputTokens: event.inputTokens,
    outputTokens: event.outputTokens,
    cachedInputTokens: event.cachedInputTokens,
    reasoningTokens: event.reasoningTokens,
    cost: event.cost,
    inputCost: event.inputCost,
    outputCost: event.outputCost,
    currency: event.currency,
    latencyMs: event.latencyMs,
    recorded: event.recorded,
    calls: event.calls,
    source: event.source,
    attempt: event.attempt,
    outcome: event.outcome,
    tags: event.tags,
    caller: event.caller,
    iteration: event.iteration,
    error: event.error,
    errorCode: event.errorCode,
  };
  return kept as UsageEvent; // absent fields are undefined
}
