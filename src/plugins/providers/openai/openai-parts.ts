import type { PartSupport } from "../../../contracts/content.js";
import { VENDOR_IMAGES } from "../shared/parts.js";

const FILES: readonly string[] = Object.freeze([...VENDOR_IMAGES, "application/pdf", "text/*"]);
const WITH_AUDIO: readonly string[] = Object.freeze([...FILES, "audio/wav", "audio/mpeg"]);

/**
 * The parts that Chat Completions accepts. Parts of tool results are sent in a following user
 * message.
 */
export const CHAT_PARTS: PartSupport = Object.freeze({
  user: WITH_AUDIO,
  tool: WITH_AUDIO,
  urls: Object.freeze(["image/*"]),
});

/** The parts that the Responses API accepts. It has no form for audio. */
export const RESPONSES_PARTS: PartSupport = Object.freeze({
  user: FILES,
  tool: FILES,
  urls: Object.freeze(["image/*", "application/pdf"]),
});
