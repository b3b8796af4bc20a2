import type { AnyTool } from "../../contracts/tool.js";
import { checkToolInput } from "../../contracts/tool-input.js";
import { jsonSchemaOf } from "./tool-trial.js";

const TEXTS = Object.freeze([
  ...[
    "",
    "   ",
    "\u0000",
    "\ud800",
    "\u202e😀",
    "{",
    "[".repeat(1_000),
    "(".repeat(1_000),
    "-".repeat(1_000),
    "%00%ff",
    "../".repeat(50),
    "null",
  ],
  ...["__proto__", "x".repeat(100_000), "9".repeat(400), "\r\n\r\n"],
]);

const VALUES: readonly unknown[] = Object.freeze([
  ...TEXTS,
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  9_007_199_254_740_993,
  [],
  [[]],
  [null],
  {},
  { a: { b: [] } },
]);

/**
 * Returns arguments of the form of a schema, each with one absurd value that a confused model may
 * send. Also returns values that are no arguments.
 */
function absurdArguments(
  schema: Readonly<Record<string, unknown>>,
  sample: unknown,
): readonly unknown[] {
  const base = typeof sample === "object" && sample !== null ? sample : {};
  const { properties } = schema;
  const names =
    typeof properties === "object" && properties !== null
      ? Object.keys(properties)
      : Object.keys(base);
  const all = VALUES.map((value) => Object.fromEntries(names.map((name) => [name, value])));
  return [
    ...VALUES,
    ...all,
    ...names.flatMap((name) => VALUES.map((value) => ({ ...base, [name]: value }))),
  ];
}

/** Returns the absurd inputs that pass the schema of the tool. The framework refuses the others. */
export async function absurdInputs(tool: AnyTool, sample: unknown): Promise<readonly unknown[]> {
  const schema = jsonSchemaOf(tool);
  if (schema === undefined) return TEXTS;
  const passed: unknown[] = [];
  for (const input of absurdArguments(schema, sample)) {
    const checked = await checkToolInput(tool, input);
    if (checked.ok) passed.push(checked.value);
  }
  return passed;
}
