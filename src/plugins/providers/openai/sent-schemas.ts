import type { ChatRequest } from "../../../contracts/chat-model.js";
import type { JsonSchema } from "../../../contracts/types.js";
import { NullRemover } from "../shared/strict-nulls.js";
import { StrictSchemas } from "../shared/strict-schema.js";
import { formatName, OPENAI_DIALECT, takenFormat, type SentSchema } from "./strict-dialect.js";

/**
 * The schemas of one request in their sent form, and the code that reverses their changes in the
 * response.
 */
export interface RequestSchemas {
  /** `undefined` without a `responseFormat`, or if the vendor does not accept it. */
  readonly format: SentSchema | undefined;
  readonly tools: readonly (SentSchema & { readonly description: string })[];
  readonly nulls: NullRemover;
}

/** Makes schemas strict if possible. Both of OpenAI's APIs accept the same schemas. */
export class SentSchemas {
  readonly #strict = new StrictSchemas(OPENAI_DIALECT);

  of(request: ChatRequest): RequestSchemas {
    const taken = takenFormat(request);
    const format =
      taken === undefined ? undefined : this.#sent(formatName(taken.name), taken.schema);
    const tools = (request.tools ?? []).map((tool) => ({
      ...this.#sent(tool.name, tool.parameters),
      description: tool.description,
    }));
    const filled = tools
      .filter((tool) => tool.addsNulls)
      .map((tool): [string, JsonSchema] => [tool.name, tool.schema]);
    const nulls = new NullRemover({
      text: format?.addsNulls === true ? format.schema : undefined,
      tools: new Map(filled),
    });
    return { format, tools, nulls };
  }

  #sent(name: string, schema: JsonSchema): SentSchema {
    const strict = this.#strict.find(schema);
    return {
      name,
      schema,
      sent: strict?.schema ?? schema,
      strict: strict !== undefined,
      addsNulls: strict?.addsNulls ?? false,
    };
  }
}
