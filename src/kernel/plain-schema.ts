import type { JsonSchema, OutputSchema } from "../contracts/types.js";
import type { Checked } from "./schema.js";
import { messageOf, ToolConfigurationError } from "../contracts/errors.js";
import { checkingSchemaOf } from "./json-schema-check.js";
import { checkValueNow } from "./schema.js";

/** The plain JSON Schemas of tools, each made ready when the first value meets it. Tools keep their schemas for all runs. */
export class PlainSchemas {
  readonly #ready = new WeakMap<
    JsonSchema,
    OutputSchema<unknown> | Promise<OutputSchema<unknown>>
  >();

  /**
   * Checks a tool's input; a promise only while the schema is made ready.
   * @throws ToolConfigurationError for a schema that can't be read: no model can mend that.
   */
  check(toolName: string, jsonSchema: JsonSchema, value: unknown): Checked | Promise<Checked> {
    const known = this.#ready.get(jsonSchema);
    if (known !== undefined && !(known instanceof Promise)) return check(known, value);
    const made = known ?? checkingSchemaOf(`The input of tool '${toolName}'`, jsonSchema);
    if (known === undefined) this.#ready.set(jsonSchema, made);
    return made.then(
      (schema) => {
        this.#ready.set(jsonSchema, schema);
        return check(schema, value);
      },
      (error: unknown) => unreadable(error),
    );
  }
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
