import { parseJson } from "./parse-json.js";
import { JsonTokens } from "./scanner.js";

/** A step of a path into a JSON document: a name or an index. */
export type JsonPath = readonly (string | number)[];

/**
 * Returns the offset of the value at `path`, or of the first syntax error before it. Returns -1 if
 * neither exists.
 */
function find(text: string, path: JsonPath | undefined): number {
  const tokens = new JsonTokens(text);
  /** For each open object or list, the step to the last value read. */
  const steps: (string | number)[] = [];
  for (;;) {
    const isInList = tokens.isInList;
    const token = tokens.next();
    if (token === "end") return -1;
    if (token === "invalid" || token === "unfinished") return tokens.start;
    if (token === "close") steps.pop();
    if (token === "key") {
      const key = parseJson(text.slice(tokens.start, tokens.end));
      if (key === undefined) return tokens.start;
      steps[steps.length - 1] = key as string; // the token is a JSON string
    }
    if (token !== "open" && token !== "scalar") continue;
    const last = steps.length - 1;
    if (isInList) steps[last] = (steps[last] as number) + 1;
    if (isAt(path, steps)) return tokens.start;
    if (token === "open") steps.push(tokens.isInList ? -1 : "");
    else if (parseJson(text.slice(tokens.start, tokens.end)) === undefined) return tokens.start;
  }
}

function isAt(path: JsonPath | undefined, steps: JsonPath): boolean {
  return path?.length === steps.length && path.every((step, i) => step === steps[i]);
}

/**
 * Returns the line, counted from 1, of the value at `path`. Returns the line of the first syntax
 * error if there is no path, or if the error precedes the value.
 */
export function lineOf(text: string, path?: JsonPath): number {
  return text.slice(0, Math.max(0, find(text, path))).split("\n").length;
}
