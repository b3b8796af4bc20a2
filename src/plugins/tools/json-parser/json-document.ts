import { InputProblem } from "../shared/input-problem.js";
import { isObject } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/** How deep a document may nest. */
const DEEPEST = 500;

/** A string or a number as it stands in the source, the first character saying which; all other values as JSON has them. */
export type JsonNode =
  string | boolean | null | readonly JsonNode[] | { readonly [key: string]: JsonNode };

const TEXT = "s";
const NUMBER = "n";

/** A string, a number, or a bracket: everything else of a valid document is left as it is. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

/**
 * Parses a document so that numbers keep their digits, however many, and keys keep their order and can't be mistaken for what objects inherit:
 * strings and keys are marked with an `s`, numbers become strings marked with an `n`.
 * @throws InputProblem `Invalid JSON: ...`
 */
export function parseDocument(text: string): JsonNode {
  try {
    JSON.parse(text); // for its message: positions are those of the text that was given
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
  return JSON.parse(marked) as JsonNode; // marked documents have no numbers
}

export function isList(node: JsonNode): node is readonly JsonNode[] {
  return Array.isArray(node);
}

/** The value of a property; `undefined` where there is none. */
export function propertyOf(node: JsonNode, name: string): JsonNode | undefined {
  return isObject(node) ? node[`${TEXT}${name}`] : undefined;
}

/** Compact JSON. */
export function jsonText(node: JsonNode): string {
  if (typeof node === "string")
    return node.startsWith(NUMBER) ? node.slice(1) : JSON.stringify(node.slice(1));
  if (isList(node)) return `[${node.map(jsonText).join(",")}]`;
  if (!isObject(node)) return String(node);
  return `{${Object.entries(node)
    .map(([key, value]) => `${JSON.stringify(key.slice(1))}:${jsonText(value)}`)
    .join(",")}}`;
}

/** The value for a reader: a string as it is, everything else as JSON. */
export function plainText(node: JsonNode): string {
  return typeof node === "string" ? node.slice(1) : jsonText(node);
}
