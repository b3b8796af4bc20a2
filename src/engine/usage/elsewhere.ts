import type { ChatResponse } from "../../contracts/chat-model.js";
import type { RestoredCall } from "../../contracts/hooks.js";
import type { Pricing } from "../../contracts/pricing.js";
import type { RunInfo } from "../../contracts/run-info.js";
import type { Clock } from "../../contracts/runtime.js";
import type { ForeignUsage, SpentUsage, UsageRecord } from "../../contracts/usage.js";
import type { Ledger } from "./ledger.js";
import { checkForeignUsage } from "../../contracts/foreign-usage.js";
import { checkResponse } from "../../contracts/chat-response.js";
import { tokensOf } from "../../contracts/metrics.js";
import { requireArray } from "../../contracts/validation.js";
import { NONE, type TaskAttempt } from "../tasks/task-attempt.js";

/** One response for all these calls, because their usage is in their records. */
const NO_TEXT: ChatResponse = { message: { role: "assistant", content: "" }, finishReason: "stop" };

/** The run whose totals include the usage. */
interface UsageOwner {
  readonly info: RunInfo;
  readonly ledger: Ledger;
  readonly pricing: Pricing | undefined;
  readonly clock: Clock;
  readonly earlierUsage: UsageRecord[];
}

/** The fields of a usage record that follow from the task. */
type Place = Pick<UsageRecord, "taskId" | "parentTaskId" | "agentRole">;
type Used = Omit<UsageRecord, keyof Place | "runId" | "tags" | "attempt" | "latencyMs">;

/** Adds an answered task's earlier model calls. @throws ModelCallError for a bad response. */
export function addRestored(
  run: UsageOwner,
  record: TaskAttempt,
  calls: readonly RestoredCall[],
): void {
  requireArray("calls of an answer() of beforeTask", calls);
  for (const { provider, modelId, purpose, iteration, response: given } of calls) {
    const checked = checkResponse(given, { provider, modelId });
    const usage = usageOf(run, record, {
      purpose,
      provider,
      modelId: checked.modelId ?? modelId,
      ...tokensOf(checked, true),
      outcome: "answered",
    });
    run.ledger.add(usage, { iteration });
    const { startedMs } = record;
    const { message, finishReason } = checked;
    const isBare = message.content === "" && !message.toolCalls && finishReason === "stop";
    const response = isBare ? NO_TEXT : checked;
    record.addCall({ usage, iteration, startedMs, response, error: undefined, tools: NONE });
  }
}

/** Adds a service's usage to a task. @throws ValidationError for an entry without a model. */
export function addForeign(
  run: UsageOwner,
  record: TaskAttempt,
  entries: readonly ForeignUsage[],
): void {
  checkForeignUsage("recordMetrics usage", entries);
  for (const entry of entries) {
    const usage = usageOf(run, record, { purpose: "remote", ...foreign(entry) });
    run.ledger.add(usage);
    record.addForeign({
      usage,
      iteration: record.lastCall?.iteration ?? 0,
      startedMs: run.clock.monotonicMs(),
      response: NO_TEXT,
      error: undefined,
      tools: NONE,
    });
  }
}

/** Adds past usage to budgets, and to totals unless restored. @throws ValidationError: no model. */
export function addSpent(run: UsageOwner, entries: readonly SpentUsage[]): void {
  checkForeignUsage("spent() usage", entries);
  for (const entry of entries) {
    const { taskId = "", agentRole = "", purpose = "task", restored = false } = entry;
    const place = { taskId, parentTaskId: undefined, agentRole };
    const usage = usageOf(run, place, { purpose, ...foreign(entry) });
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

function foreign(entry: ForeignUsage): Omit<Used, "purpose"> {
  const { source, provider, modelId, calls, cost, currency } = entry;
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
