import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { CacheOption } from "../../../contracts/content.js";

/** The mark of the end of a prefix, equal in both APIs of OpenAI. */
export interface Breakpoint {
  readonly prompt_cache_breakpoint?: { readonly mode: "explicit" };
}

/** Returns the field that marks the end of a prefix. Returns no field without a time. */
export type MarkPart = (part: { readonly cache?: CacheOption | undefined }) => Breakpoint;

const MARK: Breakpoint = { prompt_cache_breakpoint: { mode: "explicit" } };
const NONE: Breakpoint = Object.freeze({});

/** Returns the function that creates marks. Other servers have no marks, and `off` permits none. */
export function markerFor({ cache }: ChatRequest, isVendor: boolean): MarkPart {
  return isVendor && cache !== "off"
    ? (part) => (typeof part.cache === "object" ? MARK : NONE)
    : () => NONE;
}

function hasMarks(messages: readonly ChatMessage[]): boolean {
  const isMarked = (part: { readonly cache?: CacheOption | undefined }): boolean =>
    typeof part.cache === "object";
  return messages.some((message) => {
    if (message.role === "system") return isMarked(message);
    if (message.role === "tool") return message.parts?.some(isMarked) === true;
    return typeof message.content !== "string" && message.content.some(isMarked);
  });
}

/** Returns the settings of the vendor's cache. Its only time is 30 minutes. */
export function cacheFields(
  { cache, messages }: ChatRequest,
  isVendor: boolean,
): { prompt_cache_options?: { mode?: "explicit"; ttl?: "30m" } } {
  if (!isVendor) return {};
  if (cache === "off") return { prompt_cache_options: { mode: "explicit" } };
  return typeof cache === "object" || hasMarks(messages)
    ? { prompt_cache_options: { ttl: "30m" } }
    : {};
}
