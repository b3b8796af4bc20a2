import type { Source } from "../../../contracts/tool-result.js";
import type { UIChunk } from "../../../contracts/ui-stream.js";
import type { Fields } from "../../../util/objects.js";

/** The text that a page receives for a call without a result. */
export const TOOL_FAILED = "The tool failed.";

/**
 * Returns the part of a source unless it is in `shown`. The address of a source identifies it, or
 * else its title.
 */
export function shownSource(
  { url, title, mediaType }: Source,
  shown: Set<string>,
): readonly UIChunk[] {
  const key = url ?? title;
  if (key === undefined || shown.has(key)) return [];
  shown.add(key);
  const sourceId = `source-${shown.size}`;
  if (url !== undefined)
    return [{ type: "source-url", sourceId, url, ...(title !== undefined && { title }) }];
  return [{ type: "source-document", sourceId, mediaType: mediaType ?? "text/plain", title: key }];
}

/** Returns the parts that show the input of a call before the page may execute it. */
export function clientInput(call: Fields, input: unknown): readonly UIChunk[] {
  const { toolCallId } = call;
  return [
    { type: "tool-input-start", ...call },
    { type: "tool-input-delta", toolCallId, inputTextDelta: JSON.stringify(input ?? null) },
  ];
}
