import type { ArgumentsOf } from "../shared/arguments.js";
import type { Tool } from "../../../contracts/tool.js";
import type { JsonNode } from "./json-document.js";
import type { PathStep } from "./json-path.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { toolArguments } from "../shared/arguments.js";
import { answering, InputProblem, readText, shown } from "../shared/input-problem.js";
import { isList, jsonText, parseDocument, plainText, propertyOf } from "./json-document.js";
import { parsePath } from "./json-path.js";

const DESCRIPTION =
  'Takes one value out of a JSON document by its path: dots between names, [n] for a place in a list (from 0), quotes around names with dots or brackets, $ for the whole. Example: order.items[0]["unit.price"]';

const MAX_PATH = 1_000;
/**
 * Limit in characters. Parsing a document of this size blocks the event loop for about a tenth of a
 * second.
 */
const MAX_JSON = 250_000;

/** Arguments of `json_parser`. */
export interface JsonParserInput {
  /** For example `order.items[0]["unit.price"]`. */
  readonly jsonPath: string;
  /** The JSON document. */
  readonly json: string;
}

const PROPERTIES = {
  jsonPath: {
    type: "string",
    description: "The path of the value",
    examples: ["order.items[0].price", '["a.b"]', "$"],
  },
  json: {
    type: "string",
    description: "The JSON document, as a text",
    examples: ['{"order":{"items":[{"price":5}]}}'],
  },
} as const;

function childOf(node: JsonNode, next: PathStep, path: string): JsonNode {
  if (typeof next === "string") {
    const value = propertyOf(node, next);
    if (value === undefined) throw new InputProblem(`Path not found: '${shown(next)}'`);
    return value;
  }
  if (!isList(node)) throw new InputProblem(`Path not found: '${shown(path)}'`);
  const value = node[next];
  if (value === undefined)
    throw new InputProblem(
      `Array index out of bounds: index ${next} is out of bounds for array of size ${node.length}`,
    );
  return value;
}

/**
 * Returns the value as JavaScript data, for listeners and adapters. Returns `undefined` if parsing
 * could set a property on a prototype.
 */
function structured(node: JsonNode): unknown {
  const text = jsonText(node);
  return text.includes("__proto__") ? undefined : JSON.parse(text);
}

function valueAt({
  jsonPath,
  json,
}: ArgumentsOf<typeof PROPERTIES, "jsonPath" | "json">): ToolResult {
  const path = readText("Path expression", jsonPath, MAX_PATH);
  const steps = parsePath(path);
  const found = steps.reduce<JsonNode>(
    (node, next) => childOf(node, next, path),
    parseDocument(readText("JSON content", json, MAX_JSON)),
  );
  return ToolResult.success(plainText(found), structured(found));
}

/**
 * Creates the tool `json_parser`. It takes `{ jsonPath, json }` and returns the value at the path.
 * A string is returned as it is, any other value as compact JSON. Numbers keep all digits of the
 * document. Limits: 250,000 characters and 500 levels. A missing value or malformed input returns a
 * failed result.
 */
export function jsonParserTool(): Tool<JsonParserInput> {
  const args = toolArguments({ properties: PROPERTIES, required: ["jsonPath", "json"] });
  return tool<JsonParserInput>({
    name: "json_parser",
    description: DESCRIPTION,
    input: args.input,
    effect: "read",
    execute: (input) =>
      answering(async () => {
        const read = await args.read(input);
        return read.ok ? valueAt(read.value) : ToolResult.failure(read.problem);
      }),
  });
}
