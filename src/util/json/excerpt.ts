import { excerpt } from "../text.js";

/** Limits of the characters of one text, and of the whole document. */
const TEXT_LIMIT = 200;
const WHOLE_LIMIT = 4_000;

/**
 * Returns JSON for display. Returns a plain text unchanged. Shortens each long text and the whole
 * document to start and end, with the length in between. `isWhole`: nothing is omitted.
 */
export function excerptJson(data: unknown): { readonly text: string; readonly isWhole: boolean } {
  if (typeof data === "string")
    return { text: excerpt(data, TEXT_LIMIT), isWhole: data.length <= TEXT_LIMIT };
  let isWhole = true;
  const shortened = (text: string, limit: number): string => {
    if (text.length > limit) isWhole = false;
    return excerpt(text, limit);
  };
  const json =
    JSON.stringify(data, (_key, value: unknown) =>
      typeof value === "string" ? shortened(value, TEXT_LIMIT) : value,
    ) ?? "";
  return { text: shortened(json, WHOLE_LIMIT), isWhole };
}
