/** The level of a line, with winston's names. */
export type LogLevel = "error" | "warn" | "info" | "debug" | "silly";

/** The searchable fields of every line in addition to its text. */
export interface LogContext {
  readonly runId: string;
  readonly taskId?: string;
  readonly agentRole?: string;
  /** `{number}/{number of tasks}`. Only for tasks of the task list. */
  readonly taskIndex?: string;
  /** The task that started this task. */
  readonly parentTaskId?: string;
  readonly delegationId?: string;
  /** The depth of delegation: 1 for the task of a delegate, 2 for that of its delegate. */
  readonly delegationDepth?: number;
}

/** The destination of lines. */
export interface LogSink {
  /** Returns whether a level is written. Called before a line is built. */
  enabled(level: LogLevel): boolean;
  /** Writes a line. `at` is the time of the event, as an ISO instant. */
  write(level: LogLevel, message: string, context: LogContext, at: string): void;
  close(): Promise<void>;
}
