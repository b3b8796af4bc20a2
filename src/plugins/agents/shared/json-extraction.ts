import { isRefusedKey, mayHaveRefusedKey } from "../../../util/json/refused-keys.js";
import { bracketDepth, scanJson } from "../../../util/json/scanner.js";
import { fencedBlocks, withoutThinking } from "./answer-text.js";

/** A value found in a text, or the reason why a text that resembled JSON was refused. */
export type Candidate =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/**
 * Maximum number of brackets in prose that are tried as the start of a value. Each costs at most
 * one validation.
 */
const MAX_CANDIDATES = 64;
/**
 * Maximum number of characters that a scan reads, as a multiple of the text length. Keeps the time
 * for malicious nesting linear.
 */
const SCAN_FACTOR = 4;
/**
 * Maximum length of a text to repair, in characters. The time grows with the square of the length:
 * about 150 ms at this limit.
 */
const MAX_REPAIR_LENGTH = 65_536;

/** Maximum nesting of JSON. Recursion over deeper JSON would overflow the stack. */
const MAX_NESTING = 500;
const TOO_DEEP = `JSON is nested deeper than ${MAX_NESTING} levels`;

/**
 * Yields the JSON values that an answer of a model may mean, the most likely first. The order: the
 * whole text, fenced blocks, objects and arrays within prose, the repaired text, and the bare text
 * as a string. The caller stops at the first value that matches its schema. The repair is loaded
 * only when it is reached.
 */
export async function* jsonCandidates(answer: string): AsyncGenerator<Candidate, void, void> {
  const text = withoutThinking(answer);
  const whole = parse(text);
  if (whole !== undefined) yield whole;
  const blocks = fencedBlocks(text);
  if (whole === undefined) {
    for (const block of blocks.slice(0, MAX_CANDIDATES)) {
      const parsed = parse(block);
      if (parsed !== undefined) yield parsed;
    }
    yield* embedded(text);
    yield* repaired(text, blocks);
  }
  const [block] = blocks;
  yield {
    ok: true,
    value:
      blocks.length === 1 && block !== undefined && text.startsWith("```") && text.endsWith("```")
        ? block
        : text,
  };
}

function parse(text: string): Candidate | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // not JSON: the next candidate is tried
  }
  return checked(value, mayHaveRefusedKey(text));
}

function checked(value: unknown, withKeys: boolean): Candidate {
  if (typeof value !== "object" || value === null) return { ok: true, value };
  const problem = problemIn(value, withKeys, 1);
  return problem === undefined ? { ok: true, value } : { ok: false, problem };
}

function problemIn(value: object, withKeys: boolean, depth: number): string | undefined {
  if (depth > MAX_NESTING) return TOO_DEEP;
  if (withKeys && !Array.isArray(value)) {
    const refused = Object.keys(value).find((key) => isRefusedKey(key));
    if (refused !== undefined) return `the key "${refused}" is not allowed`;
  }
  for (const inner of Object.values(value) as readonly unknown[]) {
    if (typeof inner !== "object" || inner === null) continue;
    const problem = problemIn(inner, withKeys, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Yields objects and arrays within prose. Skips the inside of a piece that parses, because a part
 * of an answer is not the answer.
 */
function* embedded(text: string): Generator<Candidate, void, void> {
  const bracket = /[{[]/g;
  let budget = SCAN_FACTOR * text.length;
  let found = 0;
  for (
    let match = bracket.exec(text);
    match !== null && budget > 0 && found < MAX_CANDIDATES;
    match = bracket.exec(text)
  ) {
    const result = scanJson(text, match.index, MAX_NESTING);
    if (result.kind === "unfinished") return; // incomplete: its parts are not the answer
    if (result.kind === "tooDeep") {
      yield { ok: false, problem: TOO_DEEP };
      return;
    }
    if (result.kind === "invalid") {
      budget -= result.at - match.index + 1;
      continue;
    }
    budget -= result.end - match.index;
    bracket.lastIndex = result.end;
    const candidate = parse(text.slice(match.index, result.end));
    if (candidate === undefined) continue;
    found++;
    yield candidate;
  }
}

/**
 * Yields the most likely piece with missing quotes, commas and brackets repaired. Only an object or
 * an array counts.
 */
async function* repaired(
  text: string,
  blocks: readonly string[],
): AsyncGenerator<Candidate, void, void> {
  const piece = [text, ...blocks].find((candidate) => /^[{[]/.test(candidate)) ?? bracketed(text);
  if (piece === undefined || piece.length > MAX_REPAIR_LENGTH || bracketDepth(piece) > MAX_NESTING)
    return;
  const { jsonrepair } = await import("jsonrepair");
  let mended: string;
  try {
    mended = jsonrepair(piece);
  } catch {
    return; // not repairable: the earlier problem is reported
  }
  const candidate = parse(mended);
  if (
    candidate !== undefined &&
    (!candidate.ok || (typeof candidate.value === "object" && candidate.value !== null))
  )
    yield candidate;
}

/**
 * Returns the text from the first opening bracket to the last matching closing bracket. If there is
 * no closing bracket, returns the rest of the text.
 */
function bracketed(text: string): string | undefined {
  const start = text.search(/[{[]/);
  if (start < 0) return undefined;
  const end = text.lastIndexOf(text[start] === "{" ? "}" : "]");
  return end > start ? text.slice(start, end + 1) : text.slice(start);
}
