/** How much of a run its trace keeps: a built-in mode, or one of a plugin's. */
export type CaptureMode = "NONE" | "OFF" | "STANDARD" | "FULL" | (string & {});
export const CaptureMode = Object.freeze({
  NONE: "NONE",
  OFF: "OFF",
  STANDARD: "STANDARD",
  FULL: "FULL",
} as const);

/** A capture mode: a contribution to `Tokens.CaptureMode`, chosen by its name. */
export interface CaptureModeDefinition {
  readonly name: string;
  /** `false`: keeps no text and no value of the run's (prompts, answers, arguments, inputs, tags, messages of errors), only names, times, counts and sums. Default true. */
  readonly capturesTexts?: boolean | undefined;
  /** Keeps the whole conversation of every model call. */
  readonly capturesMessages: boolean;
  /** Keeps what was read from memory and written to it. */
  readonly capturesMemory: boolean;
  /** Keeps the arguments of tool calls as values beside their text. */
  readonly parsesToolInput: boolean;
  /** A folder to which every trace is written as `{runId}.trace.json` where the run has no exporter. */
  readonly exportsTo?: string;
  /**
   * Sees every text and JSON value (a prompt, an answer, the input of a tool, the run's inputs, ...) before it stands in a trace; what it returns stands
   * there instead. Where it throws, the value is left out. Secrets known to the framework are taken out besides.
   */
  redact?(value: unknown): unknown;
}
