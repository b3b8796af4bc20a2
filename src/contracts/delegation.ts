import type { Agent } from "./agent.js";
import type { TaskOutput } from "./output.js";
import type { AnyTask } from "./task.js";
import type { Awaitable, JsonSchema } from "./types.js";
import { ValidationError } from "./errors.js";
import { requireText } from "./validation.js";

/** A subtask that one agent hands to another. */
export interface DelegationRequest {
  /** Correlates the request with its response and its events. */
  readonly taskId: string;
  readonly agentRole: string;
  readonly taskDescription: string;
  readonly scope: Readonly<Record<string, unknown>>;
  readonly priority: "LOW" | "NORMAL" | "HIGH" | "CRITICAL";
  readonly expectedOutputSchema?: JsonSchema;
  readonly maxOutputRetries: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How it went. A refused or failed delegation is a response too, so that the delegating agent can be told. */
export interface DelegationResponse {
  readonly taskId: string;
  readonly status: "SUCCESS" | "FAILURE" | "PARTIAL";
  readonly workerRole: string;
  readonly rawOutput?: string;
  readonly parsedOutput?: unknown;
  readonly errors: readonly string[];
  readonly durationMs: number;
}

/** The key under which the engine keeps the result of the worker in a response. */
export const WORKER: unique symbol = Symbol.for("agentensemble/delegation-worker") as never;

/** The worker's side of a delegation that was let through. */
export interface WorkerResult {
  /** Its finished task; absent where it failed. */
  readonly output: TaskOutput | undefined;
}

/**
 * Returns what the worker of a delegation brought; `undefined` where nobody was asked, because a guard or a policy said no or a tap answered. A copy of the
 * response (`{ ...response }`) keeps it.
 */
export function workerOf(response: DelegationResponse): WorkerResult | undefined {
  return (response as { readonly [WORKER]?: WorkerResult })[WORKER]; // set by the engine only
}

/** A policy's verdict on a delegation. */
export interface DelegationPolicyResult {
  readonly type: "ALLOW" | "REJECT" | "MODIFY";
  readonly reason?: string;
  readonly request?: DelegationRequest;
}

/** Makes verdicts. Anything else a policy returns refuses the delegation. */
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

/** What a policy knows beside the request. */
export interface DelegationPolicyContext {
  readonly delegatingAgentRole: string;
  readonly currentDepth: number;
  readonly maxDepth: number;
  readonly availableWorkerRoles: readonly string[];
}

/** Asked before every delegation, peer or hierarchical, in the order given; the first refusal ends it. */
export type DelegationPolicy = (
  request: DelegationRequest,
  ctx: DelegationPolicyContext,
) => Awaitable<DelegationPolicyResult>;

/** Writes what the manager of a hierarchical team is told. */
export interface ManagerPromptStrategy {
  buildSystemPrompt(ctx: { readonly agents: readonly Agent[] }): string;
  buildUserPrompt(ctx: { readonly tasks: readonly AnyTask[] }): string;
}
