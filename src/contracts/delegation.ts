import type { JsonSchema } from "./types.js";

/** A subtask that one agent hands to another. Seed 003. */
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
