import type { RestoredCall } from "../../contracts/hooks.js";
import type { Pricing } from "../../contracts/pricing.js";
import type { RunInfo } from "../../contracts/run-info.js";
import type { Clock } from "../../contracts/runtime.js";
import type { ForeignUsage, SpentUsage, UsageRecord } from "../../contracts/usage.js";
import type { Ledger } from "./ledger.js";
import type { TaskAttempt } from "../tasks/task-attempt.js";
import { checkResponse } from "../../contracts/chat-response.js";
import { ValidationError } from "../../contracts/errors.js";
import { tokensOf } from "../../contracts/metrics.js";
import { preview, requireArray, requireText } from "../../contracts/validation.js";
import { isObject } from "../../util/objects.js";

/** The run whose totals count it. */
interface UsageOwner {
  readonly info: RunInfo;
  readonly ledger: Ledger;
  readonly pricing: Pricing | undefined;
  readonly clock: Clock;
  readonly earlierUsage: UsageRecord[];
}

/** The part of a usage record that follows from the task. */
type Place = Pick<UsageRecord, "taskId" | "parentTaskId" | "agentRole">;
type Used = Omit<UsageRecord, keyof Place | "runId" | "tags" | "attempt" | "latencyMs">;

/** Keeps the model calls that an answered task made in an earlier execution. @throws ModelCallError for what is no response. */
export function addRestored(
  run: UsageOwner,
  record: TaskAttempt,
  calls: readonly RestoredCall[],
): void {
  requireArray("calls of an answer() of beforeTask", calls);
  for (const { provider, modelId, purpose, iteration, response } of calls) {
    const checked = checkResponse(response, { provider, modelId });
    const usage = usageOf(run, record, {
      purpose,
      provider,
      modelId: checked.modelId ?? modelId,
      ...tokensOf(checked, true),
      outcome: "answered",
    });
    run.ledger.add(usage, { iteration });
    const { startedMs } = record;
    const call = { usage, iteration, startedMs, response: checked, error: undefined, tools: [] };
    record.addCall(call);
  }
}

/** Keeps what a service used on behalf of a task. @throws ValidationError for an entry without a model. */
export function addForeign(
  run: UsageOwner,
  record: TaskAttempt,
  entries: readonly ForeignUsage[],
): void {
  requireArray("recordMetrics usage", entries ?? null);
  for (const entry of entries) {
    const usage = usageOf(run, record, {
      purpose: "remote",
      ...foreign("recordMetrics usage", entry),
    });
    run.ledger.add(usage);
    record.addForeign({
      usage,
      iteration: record.lastCall?.iteration ?? 0,
      startedMs: run.clock.monotonicMs(),
      response: { message: { role: "assistant", content: "" }, finishReason: "stop" },
      error: undefined,
      tools: [],
    });
  }
}

/** Keeps what earlier executions of the run used: for budgets, and in the totals where no answer brings it again. @throws ValidationError for an entry without a model. */
export function addSpent(run: UsageOwner, entries: readonly SpentUsage[]): void {
  requireArray("spent() usage", entries ?? null);
  for (const entry of entries) {
    const used = foreign("spent() usage", entry);
    const { taskId = "", agentRole = "", purpose = "task", restored = false } = entry;
    const place = { taskId, parentTaskId: undefined, agentRole };
    const usage = usageOf(run, place, { purpose, ...used });
    run.earlierUsage.push(usage);
    if (!restored) run.ledger.add(usage);
  }
}

function usageOf(
  { info, pricing }: UsageOwner,
  { taskId, parentTaskId, agentRole }: Place,
  used: Used,
): UsageRecord {
  const usage: UsageRecord = {
    runId: info.id,
    taskId,
    parentTaskId,
    agentRole,
    latencyMs: 0,
    attempt: 1,
    tags: info.tags,
    ...used,
  };
  return pricing === undefined || usage.cost !== undefined ? usage : pricing.priced(usage);
}

/** Entries come from other processes. */
function foreign(what: string, entry: ForeignUsage): Omit<Used, "purpose"> {
  if (!isObject(entry))
    throw new ValidationError(`${what} must have objects, got: ${preview(entry)}`);
  const { source, provider, modelId, calls, cost, currency } = entry;
  requireText(provider, `${what} provider must not be blank`);
  requireText(modelId, `${what} modelId must not be blank`);
  for (const [name, text] of Object.entries({ source, currency }))
    if (text !== undefined) requireText(text, `${what} ${name} must be a text that is not blank`);
  if (calls !== undefined && !(Number.isInteger(calls) && calls >= 0))
    throw new ValidationError(`${what} calls must be an integer >= 0, got: ${preview(calls)}`);
  if (cost !== undefined && !(Number.isFinite(cost) && cost >= 0))
    throw new ValidationError(`${what} cost must be a number >= 0, got: ${preview(cost)}`);
  return {
    provider,
    modelId,
    ...tokensOf({ usage: entry }, false),
    outcome: "ok",
    ...(source !== undefined && { source }),
    ...(calls !== undefined && { calls }),
    ...(cost !== undefined && { cost, currency: currency ?? "USD" }),
  };
}
