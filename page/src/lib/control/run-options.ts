import type { StartRunBody } from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import { formFields, formResult, type FormValues } from "./form-fields.js";

/**
 * The keys of the options. Names of inputs have no blank at the start: the keys of both kinds of
 * fields differ.
 */
const [CAPTURE, LIMIT, TAGS] = [" capture", " limit", " tags"];

/** The fields of the options of a run. */
export const RUN_OPTION_FIELDS = formFields({
  type: "object",
  properties: {
    [CAPTURE]: {
      title: "Capture",
      description: "What the trace keeps. FULL can be replayed.",
      enum: ["STANDARD", "FULL", "OFF", "NONE"],
    },
    [LIMIT]: {
      title: "Time limit",
      description: "In seconds.",
      type: "number",
      minimum: 0.001,
      maximum: 2_147_483,
    },
    [TAGS]: {
      title: "Tags",
      description: "One name=value per line.",
      type: "array",
      items: { type: "string" },
    },
  },
});

/** The options of a run, or their problems by field. */
export interface RunOptionsResult {
  readonly options: Pick<StartRunBody, "tags" | "captureMode" | "timeoutMs">;
  readonly problems: Readonly<Record<string, string>>;
}

/** Reads the options of a run. Empty fields are omitted. */
export function runOptions(values: FormValues): RunOptionsResult {
  const { inputs, problems } = formResult(RUN_OPTION_FIELDS, values);
  const { [CAPTURE]: captureMode, [LIMIT]: seconds, [TAGS]: written } = inputs;
  const lines = Array.isArray(written) ? written.map(String) : [];
  const isTag = (line: string): boolean => line.indexOf("=") > 0;
  return {
    options: {
      ...(typeof captureMode === "string" && { captureMode }),
      ...(typeof seconds === "number" && { timeoutMs: Math.max(1, Math.round(seconds * 1_000)) }),
      ...(lines.length > 0 && { tags: tagsOf(lines) }),
    },
    problems: lines.every(isTag)
      ? problems
      : { ...problems, [TAGS]: "Each line must be name=value." },
  };
}

/** Returns the tags of lines. A later line replaces an earlier line with the same name. */
function tagsOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
