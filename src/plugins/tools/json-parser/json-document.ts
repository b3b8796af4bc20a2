import { InputProblem } from "../shared/input-problem.js";
import { isObject } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/** Maximum nesting depth of a document. */
const DEEPEST = 500;

/**
 * A string or number as in the source, with a first character that marks its type. All other values
 * are plain JSON.
 */
export type JsonNode =
  string | boolean | null | readonly JsonNode[] | { readonly [key: string]: JsonNode };

const TEXT = "s";
const NUMBER = "n";

/** A string, a number or a bracket. All other parts of a valid document stay unchanged. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

/**
 * Parses a document. Numbers keep all their digits. Keys keep their order and can't collide with
 * inherited properties of objects. Strings and keys get the prefix `s`. Numbers become strings with
 * the prefix `n`.
 * @throws InputProblem `Invalid JSON: ...`
 */
export function parseDocument(text: string): JsonNode {
  try {
    JSON.parse(text); // for its error message, whose positions refer to the original text
  } catch (error) {
    throw new InputProblem(`Invalid JSON: ${messageOf(error)}`);
  }
  let depth = 0;
  const marked = text.replace(TOKENS, (token) => {
    const [first] = token;
    if (first === '"') return `"${TEXT}${token.slice(1)}`;
    if (first === "{" || first === "[") depth++;
    else if (first === "}" || first === "]") depth--;
    else return `"${NUMBER}${token}"`;
    if (depth > DEEPEST)
      throw new InputProblem(`Invalid JSON: more than ${DEEPEST} levels of nesting`);
    return token;
  });
  return JSON.parse(marked) as JsonNode; // marked documents contain no numbers
}

export function isList(node: JsonNode): node is readonly JsonNode[] {
  return Array.isArray(node);
}

/** Returns the value of a property, or `undefined` if there is none. */
export function propertyOf(node: JsonNode, name: string): JsonNode | undefined {
  return isObject(node) ? node[`${TEXT}${name}`] : undefined;
}

/** Formats compact JSON. */
export function jsonText(node: JsonNode): string {
  if (typeof node === "string")
    return node.startsWith(NUMBER) ? node.slice(1) : JSON.stringify(node.slice(1));
  if (isList(node)) return `[${node.map(jsonText).join(",")}]`;
  if (!isObject(node)) return String(node);
  return `{${Object.entries(node)
    .map(([key, value]) => `${JSON.stringify(key.slice(1))}:${jsonText(value)}`)
    .join(",")}}`;
}

/** Formats a value for a reader: a string as it is, any other value as JSON. */
export function plainText(node: JsonNode): string {
  return typeof node === "string" ? node.slice(1) : jsonText(node);
}
