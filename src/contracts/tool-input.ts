import type { AnyTool } from "./tool.js";
import type { Checked } from "../util/schema/standard-schema.js";
import type { JsonSchema } from "./types.js";
import { ToolConfigurationError } from "./errors.js";
import { parseWithoutRefusedKeys } from "../util/json/refused-keys.js";
import { JsonSchemaValidators } from "../util/schema/json-schema.js";
import { isObject } from "../util/objects.js";
import { checkAtOnce, isValidating } from "../util/schema/standard-schema.js";
import { messageOf } from "../util/errors.js";

export type { Checked } from "../util/schema/standard-schema.js";

/**
 * Reads the input of a tool from the arguments of a model. Returns a promise only for an
 * asynchronous schema.
 */
export function readInput(
  tool: AnyTool,
  text: string,
  schemas: JsonSchemaValidators,
): Checked | Promise<Checked> {
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : parseWithoutRefusedKeys(text);
  } catch (error) {
    if (tool.input === undefined) return { ok: true, value: text };
    return { ok: false, problem: `the arguments are not valid JSON: ${messageOf(error)}` };
  }
  if (tool.input !== undefined) return checkInput(tool, value, schemas);
  const field = isObject(value) ? value["input"] : undefined;
  if (field === undefined) return { ok: true, value: text };
  return { ok: true, value: typeof field === "string" ? field : JSON.stringify(field) };
}

/**
 * Checks input against the tool's schema, in the same way as input of a model. Returns the value
 * converted by the schema, or the error as a text. Without a schema, the input must be a string.
 *
 * @throws ToolConfigurationError for an unreadable plain JSON Schema.
 */
export async function checkToolInput(tool: AnyTool, value: unknown): Promise<Checked> {
  return checkInput(tool, value, new JsonSchemaValidators());
}

/** As {@link checkToolInput}. Returns a promise only for an asynchronous schema. */
export function checkInput(
  tool: AnyTool,
  value: unknown,
  schemas: JsonSchemaValidators,
): Checked | Promise<Checked> {
  const schema = tool.input;
  if (schema === undefined)
    return typeof value === "string"
      ? { ok: true, value }
      : { ok: false, problem: "expected a string" };
  if (isValidating(schema)) return checkAtOnce(schema, value);
  if (!isObject(value)) return { ok: false, problem: "expected a JSON object" };
  const required = (schema as { readonly required?: unknown }).required;
  const missing = Array.isArray(required)
    ? required.filter((name) => typeof name === "string" && !Object.hasOwn(value, name))
    : [];
  return missing.length === 0
    ? checkPlain(tool, schema, value, schemas)
    : { ok: false, problem: `missing required parameter(s): ${missing.join(", ")}` };
}

/** An unreadable schema is a configuration error: a model can't correct it. */
function checkPlain(
  { name }: AnyTool,
  schema: JsonSchema,
  value: unknown,
  schemas: JsonSchemaValidators,
): Checked | Promise<Checked> {
  try {
    const checked = schemas.check(schema, value, "The input of tool", name);
    return checked instanceof Promise ? checked.catch(unreadable) : checked;
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(cause: unknown): never {
  throw new ToolConfigurationError(messageOf(cause), { cause });
}
