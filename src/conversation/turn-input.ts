import type { ContentPart } from "../contracts/content.js";
import { checkParts, type PartLimits } from "../contracts/attachment.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";

/** A message of a user: a text, or parts that may include files. */
export type TurnContent = string | readonly ContentPart[];

/** Maximum number of characters of the text of one message. */
const MAX_TEXT = 1_048_576;

/** The checked message of a turn. */
export interface TurnInput {
  /** The content as passed. It is sent and stored unchanged. */
  readonly content: TurnContent;
  /** The text of the content, for guardrails, hooks and traces. */
  readonly text: string;
  /** The parts of the content except text. */
  readonly files: readonly ContentPart[];
}

/** @throws ValidationError for an empty message, a text that is too long, and an invalid part. */
export function turnInputOf(input: unknown, limits?: PartLimits): TurnInput {
  if (typeof input === "string") return { content: input, text: checkedText(input), files: [] };
  if (!Array.isArray(input) || input.length === 0)
    throw new ValidationError(
      `A message must be text or a list of parts with at least one, got: ${preview(input, 60)}`,
    );
  checkParts("Message part", input as readonly unknown[], limits);
  const content = (input as readonly ContentPart[]).map(storable);
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const files = content.filter((part) => part.type !== "text");
  const shown = text === "" ? `(${files.map(({ type }) => type).join(", ")})` : checkedText(text);
  return { content: Object.freeze(content), text: shown, files };
}

/** Returns a part as JSON data, because stored turns are JSON. */
function storable(part: ContentPart): ContentPart {
  return (part.type === "image" || part.type === "file") && part.data instanceof URL
    ? { ...part, data: part.data.href }
    : part;
}

function checkedText(text: string): string {
  if (text.trim() === "") throw new ValidationError("A message must not be blank");
  if (text.length > MAX_TEXT)
    throw new ValidationError(
      `The text of a message must have at most ${MAX_TEXT} characters, got: ${text.length}`,
    );
  return text;
}
