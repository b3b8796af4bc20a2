import type { ErrorDetails } from "./errors.js";
import { AgentEnsembleError } from "./errors.js";

/**
 * A journal could not be read or written. An entry is never lost after `append` has resolved. The
 * run can be resumed when the storage works again.
 */
export class JournalError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_JOURNAL", message, details);
  }
}

/** Another process is executing the run. */
export class RunInUseError extends AgentEnsembleError {
  readonly runId: string;
  /** A description of the process for people. */
  readonly owner: string;
  constructor(runId: string, owner: string, details: ErrorDetails = {}) {
    super("AE_RUN_IN_USE", `Run '${runId}' is executed by ${owner}`, {
      hint: "Wait for that process, or cancel the run there.",
      ...details,
    });
    this.runId = runId;
    this.owner = owner;
  }
}

/**
 * This process executed the run and did not renew its lease in time. Another process has taken over
 * the run. This process no longer writes to the journal.
 */
export class RunFencedError extends AgentEnsembleError {
  readonly runId: string;
  constructor(runId: string, details: ErrorDetails = {}) {
    super("AE_RUN_FENCED", `Another process has taken over run '${runId}'`, {
      hint: "Read the outcome from that process, or increase leaseMs in this process if it blocks its event loop for long.",
      ...details,
    });
    this.runId = runId;
  }
}

/**
 * A tool with an effect was called, and the process ended before the result was recorded. The tool
 * is not called again automatically.
 */
export class ToolInDoubtError extends AgentEnsembleError {
  /** Identifies the call for `runs.settle()`. Equals `ToolContext.idempotencyKey`. */
  readonly key: string;
  readonly toolName: string;
  constructor(toolName: string, key: string, details: ErrorDetails = {}) {
    super("AE_TOOL_IN_DOUBT", `It is unknown whether tool '${toolName}' was executed (${key})`, {
      hint: "Find out what happened, settle the call with runs.settle() or `agentensemble runs settle`, then resume the run.",
      ...details,
    });
    this.key = key;
    this.toolName = toolName;
  }
}

/**
 * Several consecutive executions of a run ended with their process and added no new entry. The run
 * is no longer resumed automatically.
 */
export class RunPoisonedError extends AgentEnsembleError {
  readonly runId: string;
  readonly executions: number;
  constructor(runId: string, executions: number, details: ErrorDetails = {}) {
    super(
      "AE_RUN_POISONED",
      `Run '${runId}' has ended its process ${executions} times in a row without a new entry`,
      {
        hint: "Find out what ends the process, then resume the run by its id, or delete it.",
        ...details,
      },
    );
    this.runId = runId;
    this.executions = executions;
  }
}
