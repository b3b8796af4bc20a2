/** Deeper JSON is refused: nothing sensible is, and recursion over it would end the process. */
export const MAX_NESTING = 500;

/** What a scan found: the end of the value that opens there, or that the text ended first, that it is no JSON, or too deep. */
export type ScanResult =
  | { readonly kind: "value"; readonly end: number }
  | { readonly kind: "invalid"; readonly at: number }
  | { readonly kind: "unfinished" }
  | { readonly kind: "tooDeep" };

/** What the grammar allows next. */
type Expectation = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrEnd";

/** What a character starts, where it is not punctuation that only changes the expectation. */
type Token = "closing" | "keyString" | "string" | "literal" | "invalid";

const LITERAL = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

const unfinished: ScanResult = { kind: "unfinished" };

/** Follows a JSON object or array from its opening bracket, strictly, without building it. Linear in what it reads. */
export function scanJson(text: string, start: number): ScanResult {
  const open: string[] = [];
  let expected: Expectation = "value";
  let at = start;
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at++;
    const char = text[at];
    if (char === undefined) return unfinished;
    const next = step(char, expected, open);
    if (next === "closing") {
      at++;
      open.pop();
      if (open.length === 0) return { kind: "value", end: at };
      expected = "commaOrEnd";
    } else if (next === "string" || next === "keyString") {
      const end = endOfString(text, at);
      if (end < 0) return end === -1 ? unfinished : { kind: "invalid", at };
      at = end;
      expected = next === "keyString" ? "colon" : "commaOrEnd";
    } else if (next === "literal") {
      LITERAL.lastIndex = at;
      if (!LITERAL.test(text)) return { kind: "invalid", at };
      at = LITERAL.lastIndex;
      expected = "commaOrEnd";
    } else if (next === "invalid") {
      return { kind: "invalid", at };
    } else {
      at++;
      expected = next;
      if (open.length > MAX_NESTING) return { kind: "tooDeep" };
    }
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** What to do with a character where `expected` may stand; opens brackets, and leaves closing them to the caller. */
function step(char: string, expected: Expectation, open: string[]): Expectation | Token {
  const inObject = open[open.length - 1] === "{";
  switch (expected) {
    case "colon":
      return char === ":" ? "value" : "invalid";
    case "commaOrEnd":
      if (char === ",") return inObject ? "key" : "value";
      return char === (inObject ? "}" : "]") ? "closing" : "invalid";
    case "key":
    case "keyOrEnd":
      if (char === '"') return "keyString";
      return expected === "keyOrEnd" && char === "}" ? "closing" : "invalid";
    case "value":
    case "valueOrEnd":
      if (char === "{" || char === "[") {
        open.push(char);
        return char === "{" ? "keyOrEnd" : "valueOrEnd";
      }
      if (expected === "valueOrEnd" && char === "]") return "closing";
      return char === '"' ? "string" : "literal";
  }
}

/** The place after the closing quote; -1 when the text ends before it, -2 when a raw line break shows that this is no JSON string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code === 92) at++;
    else if (code === 10 || code === 13) return -2;
  }
  return -1;
}

/** The contents of fenced blocks, without their language word. */
export function fencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  for (let open = text.indexOf("```"); open >= 0;) {
    const close = text.indexOf("```", open + 3);
    if (close < 0) break;
    blocks.push(
      text
        .slice(open + 3, close)
        .replace(/^[\w+-]{1,30}(?=\s)/, "")
        .trim(),
    );
    open = text.indexOf("```", close + 3);
  }
  return blocks;
}

/** The text without a reasoning block in front. */
export function withoutThinking(text: string): string {
  let rest = text.trim();
  while (rest.startsWith("<think>")) {
    const end = rest.indexOf("</think>");
    if (end < 0) break;
    rest = rest.slice(end + "</think>".length).trim();
  }
  return rest;
}
