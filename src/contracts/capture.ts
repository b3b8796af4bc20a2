/** The amount of data that a trace keeps of a run: a built-in mode, or one of a plugin. */
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
  /**
   * `false`: keeps only names, times, counts and totals. Omits the texts and values of the run:
   * prompts, responses, arguments, inputs, tags, error messages. Default true.
   */
  readonly capturesTexts?: boolean | undefined;
  /** Keeps the whole conversation of every model call. */
  readonly capturesMessages: boolean;
  /** Keeps all reads and writes of memory. */
  readonly capturesMemory: boolean;
  /** Keeps the arguments of tool calls as values in addition to their text. */
  readonly parsesToolInput: boolean;
  /**
   * Keeps the text of the models' reasoning, but never the vendors' encrypted blocks. Default
   * false.
   */
  readonly capturesReasoning?: boolean | undefined;
  /**
   * Writes the images and files of conversations and results of tools next to saved traces. Default
   * false.
   */
  readonly capturesFiles?: boolean | undefined;
  /** A folder for traces of runs without an exporter. Each becomes `{runId}.trace.json`. */
  readonly exportsTo?: string;
  /**
   * Returns the replacement of a text or JSON value in a trace. Receives every prompt, response,
   * tool input, run input and other value, and every text file. If it throws, the value is omitted.
   * Secrets known to the framework are also redacted.
   */
  redact?(value: unknown): unknown;
}
