import type { Ev } from "../../../contracts/events.js";
import type { UIChunk } from "../../../contracts/ui-stream.js";
import { asCount, asFields, codeOf } from "../../../util/objects.js";

type TaskEvent = Pick<Ev<"token">, "taskId" | "agentRole">;
type DelegationEvent =
  Ev<"delegation_started"> | Ev<"delegation_completed"> | Ev<"delegation_failed">;

const MODES = ["task", "handoff", "tool"] as const;

/** Errors that end a task although its work did not fail. */
const STOPS: readonly unknown[] = ["AE_RUN_CANCELLED", "AE_RUN_SUSPENDED", "AE_EXIT_EARLY"];

/**
 * States of tasks, delegations, reviews and budgets. On the page, a part replaces an earlier part
 * with the same id.
 */
export class DataParts {
  readonly #push: (chunk: UIChunk) => void;
  readonly #prompts = new Map<string, string | undefined>();
  #action = "";

  constructor(isWanted: boolean, push: (chunk: UIChunk) => void) {
    this.#push = isWanted ? push : () => undefined;
  }

  task({ taskId, agentRole: agent }: TaskEvent, state: string, tokenCount?: number): void {
    const tokens = asCount(tokenCount);
    const data = { taskId, agent, state, ...(tokens !== undefined && { tokens }) };
    this.#push({ type: "data-task", id: taskId, data });
  }

  taskFailed(e: Ev<"task_failed">): void {
    this.task(e, STOPS.includes(codeOf(e.cause)) ? "stopped" : "failed");
  }

  partial(taskId: string, partial: unknown): void {
    this.#push({ type: "data-partial", id: taskId, data: partial });
  }

  delegation(e: DelegationEvent, state: string): void {
    const { delegationId: id, delegatingAgentRole: from, workerRole: to } = e;
    const given = asFields(e.request)?.["mode"]; // a log may omit contents
    const mode = MODES.find((one) => one === given) ?? "task";
    this.#push({ type: "data-delegation", id, data: { from, to, mode, state } });
  }

  /** Adds a waiting review; `prompt` is the part of its question that the page may show. */
  asked(reviewId: string, prompt: string | undefined): void {
    this.#prompts.set(reviewId, prompt);
    this.#review(reviewId, "waiting", prompt);
  }

  answered({ reviewId, decision }: Ev<"review_resolved">): void {
    if (!this.#prompts.has(reviewId)) return; // the review asks the page for the output of a call
    const prompt = this.#prompts.get(reviewId);
    this.#prompts.delete(reviewId);
    this.#review(reviewId, decision.toLowerCase(), prompt);
  }

  budgetOpened(e: Ev<"budget_opened">): void {
    this.#action = e.action;
    this.budget(e);
  }

  budget({ limits, used }: Pick<Ev<"budget_changed">, "limits" | "used">): void {
    const { maxTokens, maxCost, maxDurationMs } = limits;
    this.#limit("maxTokens", maxTokens, used.tokens);
    this.#limit("maxCost", maxCost, used.cost);
    this.#limit("maxDurationMs", maxDurationMs, used.durationMs);
  }

  exceeded({ limit, used, allowed, action }: Ev<"budget_exceeded">): void {
    this.#push({ type: "data-budget", id: limit, data: { limit, used, allowed, action } });
  }

  #limit(limit: string, allowed: number | undefined, used: number | undefined): void {
    if (allowed === undefined) return;
    const data = { limit, used: used ?? 0, allowed, action: this.#action };
    this.#push({ type: "data-budget", id: limit, data });
  }

  #review(id: string, state: string, prompt: string | undefined): void {
    this.#push({
      type: "data-review",
      id,
      data: { state, ...(prompt !== undefined && { prompt }) },
    });
  }
}
