/** How important a line is, by winston's names. */
export type LogLevel = "error" | "warn" | "info" | "debug" | "silly";

/** What every line bears besides its text, so that logs can be searched by it. */
export interface LogContext {
  readonly runId: string;
  readonly taskId?: string;
  readonly agentRole?: string;
  /** `{place}/{number of tasks}`; only for tasks of the task list. */
  readonly taskIndex?: string;
  /** The task that caused this one. */
  readonly parentTaskId?: string;
  readonly delegationId?: string;
  /** 1 for the task of a delegate, 2 for that of a delegate's delegate. */
  readonly delegationDepth?: number;
}

/** Where lines go. */
export interface LogSink {
  /** Asked before a line is built. */
  enabled(level: LogLevel): boolean;
  /** `at`: when it happened, as an ISO instant. */
  write(level: LogLevel, message: string, context: LogContext, at: string): void;
  close(): Promise<void>;
}
