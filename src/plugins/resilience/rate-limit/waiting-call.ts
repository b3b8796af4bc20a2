import type { LlmCall, Reject } from "../../../contracts/hooks.js";
import type { RateLimit } from "../../../contracts/rate-limit.js";
import type { Turn } from "./turn.js";
import { RateLimitTimeoutError } from "../../../contracts/errors.js";
import { reject } from "../../../contracts/hooks.js";

/** The refusal of a call that waits too long. */
export function waitRejection(limit: RateLimit): Reject {
  return reject(new RateLimitTimeoutError(limit, limit.waitTimeoutMs));
}

/** A call that waits for its turn, with its promise. */
export class WaitingCall {
  readonly verdict: Promise<Reject | undefined>;
  #resolve: (verdict: Reject | undefined) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;
  #announced = false;

  constructor(
    readonly call: LlmCall,
    readonly turn: Turn,
  ) {
    this.verdict = new Promise((resolve, fail) => {
      this.#resolve = resolve;
      this.#reject = fail;
    });
  }

  /** Emits once that the call waits. */
  announce(now: number): void {
    if (this.#announced) return;
    this.#announced = true;
    const { run, taskId, parentTaskId, agentRole } = this.call;
    const { limit, waitMs } = this.turn.obstacle(now);
    run.emit({
      type: "rate_limited",
      taskId,
      ...(parentTaskId !== undefined && { parentTaskId }),
      agentRole,
      waitMs,
      requests: limit.requests,
      periodMs: limit.periodMs,
    });
  }

  start(): void {
    this.#resolve(undefined);
  }

  refuse(limit: RateLimit): void {
    this.#resolve(waitRejection(limit));
  }

  /** Called when the signal of the call was aborted. */
  giveUp(): void {
    this.#reject(this.call.signal.reason);
  }

  /** Called when the window of the call failed. */
  fail(error: unknown): void {
    this.#reject(error);
  }
}
