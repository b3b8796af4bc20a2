import type { JsonSchema, OutputSchema } from "../contracts/types.js";
import type { Checked } from "./schema.js";
import { messageOf, ToolConfigurationError } from "../contracts/errors.js";
import { checkingSchemaOf } from "./json-schema-check.js";
import { checkValueNow } from "./schema.js";

/** Tools keep their schemas for all runs; each is made ready when the first value meets it. */
const ready = new WeakMap<JsonSchema, OutputSchema<unknown> | Promise<OutputSchema<unknown>>>();

/**
 * Checks a tool's input against plain JSON Schema; a promise only while the schema is made ready.
 * @throws ToolConfigurationError for a schema that can't be read: no model can mend that.
 */
export function checkPlain(toolName: string, jsonSchema: JsonSchema, value: unknown): Checked | Promise<Checked> {
  const known = ready.get(jsonSchema);
  if (known !== undefined && !(known instanceof Promise)) return check(known, value);
  const made = known ?? checkingSchemaOf(`The input of tool '${toolName}'`, jsonSchema);
  if (known === undefined) ready.set(jsonSchema, made);
  return made.then(
    (schema) => {
      ready.set(jsonSchema, schema);
      return check(schema, value);
    },
    (error: unknown) => unreadable(error),
  );
}

function check(schema: OutputSchema<unknown>, value: unknown): Checked {
  try {
    return checkValueNow(schema, value) ?? { ok: true, value }; // it always answers at once
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): never {
  throw new ToolConfigurationError(messageOf(error), { cause: error });
}
