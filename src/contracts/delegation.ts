import type { Agent } from "./agent.js";
import type { TaskOutput } from "./output.js";
import type { AnyTask } from "./task.js";
import type { Awaitable, JsonSchema } from "./types.js";
import { ValidationError } from "./errors.js";
import { requireText } from "./validation.js";

/** A subtask that one agent delegates to another. */
export interface DelegationRequest {
  /** Relates the request to its response and its events. */
  readonly taskId: string;
  readonly agentRole: string;
  readonly taskDescription: string;
  readonly scope: Readonly<Record<string, unknown>>;
  readonly priority: "LOW" | "NORMAL" | "HIGH" | "CRITICAL";
  readonly expectedOutputSchema?: JsonSchema;
  readonly maxOutputRetries: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /**
   * `task` (default): the agent executes the subtask and returns its output. `tool`: as `task`, for
   * an agent that is used as a tool. `handoff`: the agent takes over the task of the delegating
   * agent.
   */
  readonly mode?: "task" | "handoff" | "tool" | undefined;
}

/**
 * The outcome of a delegation. A refused or failed delegation also has a response. The delegating
 * agent receives the reason from this response.
 */
export interface DelegationResponse {
  readonly taskId: string;
  readonly status: "SUCCESS" | "FAILURE" | "PARTIAL";
  readonly workerRole: string;
  readonly rawOutput?: string;
  readonly parsedOutput?: unknown;
  readonly errors: readonly string[];
  readonly durationMs: number;
}

/** The key under which the engine keeps the worker's result in a response. */
export const WORKER: unique symbol = Symbol.for("agentensemble/delegation-worker") as never;

/** The worker's result of an accepted delegation. */
export interface WorkerResult {
  /** The output of the worker's task. `undefined` after a failure. */
  readonly output: TaskOutput | undefined;
}

/**
 * Returns the worker's result of a delegation. Returns `undefined` if no worker ran: a guard or a
 * policy refused, or a tap answered. A copy of the response (`{ ...response }`) keeps the result.
 */
export function workerOf(response: DelegationResponse): WorkerResult | undefined {
  return (response as { readonly [WORKER]?: WorkerResult })[WORKER]; // set only by the engine
}

/** A policy's verdict on a delegation. */
export interface DelegationPolicyResult {
  readonly type: "ALLOW" | "REJECT" | "MODIFY";
  readonly reason?: string;
  readonly request?: DelegationRequest;
}

/** Creates verdicts. Any other return value of a policy refuses the delegation. */
export const DelegationPolicyResult: {
  allow(): DelegationPolicyResult;
  /** @throws ValidationError for a blank reason. */
  reject(reason: string): DelegationPolicyResult;
  /** @throws ValidationError without a request. */
  modify(request: DelegationRequest): DelegationPolicyResult;
} = Object.freeze({
  allow: (): DelegationPolicyResult => ({ type: "ALLOW" }),
  reject: (reason: string): DelegationPolicyResult => {
    requireText(reason, "rejection reason must not be null or blank");
    return { type: "REJECT", reason };
  },
  modify: (request: DelegationRequest): DelegationPolicyResult => {
    if (typeof request !== "object" || request === null)
      throw new ValidationError("modifiedRequest must not be null");
    return { type: "MODIFY", request };
  },
});

/** The arguments of a policy in addition to the request. */
export interface DelegationPolicyContext {
  readonly delegatingAgentRole: string;
  readonly currentDepth: number;
  readonly maxDepth: number;
  readonly availableWorkerRoles: readonly string[];
}

/**
 * Judges a delegation between peers or in a hierarchy. Policies run in the given order. The first
 * refusal ends the check.
 */
export type DelegationPolicy = (
  request: DelegationRequest,
  ctx: DelegationPolicyContext,
) => Awaitable<DelegationPolicyResult>;

/** Writes the prompt of a hierarchical team's manager. */
export interface ManagerPromptStrategy {
  buildSystemPrompt(ctx: { readonly agents: readonly Agent[] }): string;
  buildUserPrompt(ctx: { readonly tasks: readonly AnyTask[] }): string;
}
