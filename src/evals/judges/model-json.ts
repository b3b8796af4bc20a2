/**
 * Returns the JSON object in the answer of a model, also within other text. Returns `undefined` if
 * there is none.
 */
export function modelJson(text: string): unknown {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  if (start === -1 || end < start) return undefined;
  try {
    return JSON.parse(text.slice(start, end + 1)) as unknown;
  } catch {
    return undefined;
  }
}
