import type { ChatChunk, ChatResponse } from "../../../contracts/chat-model.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { Fields } from "../../../util/objects.js";
import { JsonGuard } from "./json-guard.js";
import {
  allowsNull,
  alternatives,
  isObjectSchema,
  requiredNames,
  resolveReference,
} from "./json-schema.js";
import { asFields } from "../../../util/objects.js";

/** Returns the schemas that may describe a value, with alternatives and references resolved. */
function candidates(
  schema: unknown,
  root: Fields,
  seen: ReadonlySet<unknown> = new Set(),
): readonly Fields[] {
  const fields = asFields(schema);
  if (fields === undefined || seen.has(schema)) return [];
  const deeper = new Set([...seen, schema]);
  if (fields["$ref"] !== undefined)
    return candidates(resolveReference(root, fields["$ref"]), root, deeper);
  return alternatives(fields)?.flatMap((choice) => candidates(choice, root, deeper)) ?? [fields];
}

/** Whether a value matches a constant of the schema, which identifies an alternative. */
function agrees(schema: unknown, value: unknown): boolean {
  const fields = asFields(schema) ?? {};
  if ("const" in fields) return fields["const"] === value;
  const values = fields["enum"];
  return !Array.isArray(values) || values.includes(value);
}

/**
 * Returns the alternatives that may describe an object. They declare all its properties and match
 * its constants. Alternatives that declare no further properties take precedence.
 */
function matching(schemas: readonly Fields[], value: Fields): readonly Fields[] {
  const names = Object.keys(value);
  const known = schemas.filter((schema) => {
    const properties = asFields(schema["properties"]);
    if (properties === undefined || !isObjectSchema(schema)) return false;
    return names.every(
      (name) =>
        Object.hasOwn(properties, name) &&
        (value[name] === null || agrees(properties[name], value[name])),
    );
  });
  const complete = known.filter(
    (schema) => Object.keys(asFields(schema["properties"]) ?? {}).length === names.length,
  );
  return complete.length > 0 ? complete : known;
}

class NullFilter {
  readonly #root: Fields;
  hasRemoved = false;

  constructor(root: Fields) {
    this.#root = root;
  }

  value(value: unknown, schemas: readonly unknown[]): unknown {
    const leaves = schemas.flatMap((schema) => candidates(schema, this.#root));
    if (Array.isArray(value)) {
      const items = leaves.map((schema) => schema["items"]);
      return value.map((item) => this.value(item, items));
    }
    const fields = asFields(value);
    return fields === undefined ? value : this.#object(fields, matching(leaves, fields));
  }

  #object(value: Fields, schemas: readonly Fields[]): Fields {
    const kept = Object.entries(value).filter(
      ([name, inner]) => inner !== null || !this.#standsForAbsence(name, schemas),
    );
    if (kept.length < Object.keys(value).length) this.hasRemoved = true;
    return Object.fromEntries(
      kept.map(([name, inner]) => [
        name,
        this.value(
          inner,
          schemas.map((schema) => asFields(schema["properties"])?.[name]),
        ),
      ]),
    );
  }

  #standsForAbsence(name: string, schemas: readonly Fields[]): boolean {
    return (
      schemas.length > 0 &&
      schemas.every(
        (schema) =>
          !requiredNames(schema).includes(name) &&
          !allowsNull(asFields(schema["properties"])?.[name], this.#root),
      )
    );
  }
}

/**
 * Removes the nulls that represent absent properties from a JSON text. `schema` is the schema
 * before it was made strict. A null that the schema permits is kept. A text that is not JSON, or
 * has no such nulls, is returned unchanged.
 */
export function removeNulls(text: string, schema: JsonSchema): string {
  if (!text.includes("null")) return text;
  let value: unknown;
  try {
    new JsonGuard().scan(text);
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const filter = new NullFilter(schema);
  const result = filter.value(value, [schema]);
  return filter.hasRemoved ? JSON.stringify(result) : text;
}

type ToolCallChunk = Extract<ChatChunk, { readonly type: "tool_call" }>;

/** Delays parts of a stream that may contain nulls to remove, until they are complete. */
export interface HeldChunks {
  /** Returns the chunks that can be emitted now. */
  add(chunks: readonly ChatChunk[]): readonly ChatChunk[];
  /** Returns the delayed parts as they appear in the finished response. */
  rest(response: ChatResponse): readonly ChatChunk[];
}

class Held implements HeldChunks {
  readonly #holdsText: boolean;
  readonly #tools: ReadonlyMap<string, JsonSchema>;
  readonly #indexes = new Set<number>();

  constructor(holdsText: boolean, tools: ReadonlyMap<string, JsonSchema>) {
    this.#holdsText = holdsText;
    this.#tools = tools;
  }

  add(chunks: readonly ChatChunk[]): readonly ChatChunk[] {
    return chunks.flatMap((chunk) => {
      if (chunk.type === "text") return this.#holdsText ? [] : [chunk];
      return chunk.type === "tool_call" ? this.#addToolCall(chunk) : [chunk];
    });
  }

  rest(response: ChatResponse): readonly ChatChunk[] {
    const { content, toolCalls = [] } = response.message;
    const text: ChatChunk[] =
      this.#holdsText && content !== "" ? [{ type: "text", text: content }] : [];
    const calls = [...this.#indexes].map((index): ChatChunk => ({
      type: "tool_call",
      index,
      argumentsDelta: toolCalls[index]?.arguments ?? "",
    }));
    return [...text, ...calls];
  }

  #addToolCall(chunk: ToolCallChunk): readonly ChatChunk[] {
    const { argumentsDelta, ...named } = chunk;
    if (chunk.name !== undefined && this.#tools.has(chunk.name)) this.#indexes.add(chunk.index);
    if (!this.#indexes.has(chunk.index)) return [chunk];
    return chunk.name === undefined && chunk.id === undefined ? [] : [named];
  }
}

const NOTHING_HELD: HeldChunks = Object.freeze({
  add: (chunks: readonly ChatChunk[]) => chunks,
  rest: () => [],
});

/**
 * Removes the nulls that strict schemas have caused from a response. Only the vendor's API uses
 * these nulls.
 */
export class NullRemover {
  readonly #text: JsonSchema | undefined;
  readonly #tools: ReadonlyMap<string, JsonSchema>;

  /**
   * `text` and `tools` (by name) are the schemas with optional properties, before they were made
   * strict.
   */
  constructor(o: {
    readonly text: JsonSchema | undefined;
    readonly tools: ReadonlyMap<string, JsonSchema>;
  }) {
    this.#text = o.text;
    this.#tools = o.tools;
  }

  response(response: ChatResponse): ChatResponse {
    const { content, toolCalls } = response.message;
    if (this.#text === undefined && this.#tools.size === 0) return response;
    const calls = toolCalls?.map((call) => {
      const schema = this.#tools.get(call.name);
      return schema === undefined
        ? call
        : { ...call, arguments: removeNulls(call.arguments, schema) };
    });
    return {
      ...response,
      message: {
        ...response.message,
        content: this.#text === undefined ? content : removeNulls(content, this.#text),
        ...(calls === undefined ? {} : { toolCalls: calls }),
      },
    };
  }

  holdBack(): HeldChunks {
    return this.#text === undefined && this.#tools.size === 0
      ? NOTHING_HELD
      : new Held(this.#text !== undefined, this.#tools);
  }
}
