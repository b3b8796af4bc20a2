import type { AnyTool } from "../../../contracts/tool.js";
import type { ReadEdit } from "../shared/ask-until-fits.js";
import type { Fields } from "../../../util/objects.js";
import { checkToolInput } from "../../../contracts/tool-input.js";
import { isObject } from "../../../util/objects.js";

/** The names of the main text argument, in the order of preference. */
const MAIN_NAMES = ["content", "body", "text", "input", "message", "query", "question", "command"];

/**
 * Returns the name of the argument that a plain-text edit replaces: a known name, or else the only
 * text argument.
 */
function mainTextOf(input: unknown): string | undefined {
  if (!isObject(input)) return undefined;
  const texts = Object.keys(input).filter((name) => typeof input[name] === "string");
  return (
    MAIN_NAMES.find((name) => texts.includes(name)) ?? (texts.length === 1 ? texts[0] : undefined)
  );
}

/** Returns the instruction for editing a call. */
export function editHint(tool: AnyTool, input: unknown): string {
  if (tool.input === undefined) return "An edit replaces the input.";
  const main = mainTextOf(input);
  return main === undefined
    ? "An edit is a JSON object: the new arguments."
    : `An edit that is a JSON object replaces the arguments, any other text '${main}'.`;
}

/**
 * Returns the input of an edited call. A JSON object replaces the arguments. Any other text
 * replaces the main argument. For a tool without a schema, the text is the input.
 */
export async function editedInput(
  tool: AnyTool,
  input: unknown,
  text: string,
): Promise<ReadEdit<unknown>> {
  const edited = tool.input === undefined ? text : (objectIn(text) ?? withMainText(input, text));
  if (edited === undefined)
    return {
      ok: false,
      problem: `the arguments of tool '${tool.name}' have no main text; write them as a JSON object`,
    };
  const checked = await checkToolInput(tool, edited);
  return checked.ok ? { ok: true, value: edited } : checked;
}

function withMainText(input: unknown, text: string): unknown {
  const main = mainTextOf(input);
  // an input with a main text is an object
  return main === undefined ? undefined : { ...(input as Fields), [main]: text };
}

function objectIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // any other text
  }
}
