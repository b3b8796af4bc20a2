import type { Detector, Finding } from "../shared/findings.js";
import { plainWords } from "../shared/plain-words.js";
import type { HostList } from "../../shared/fetch/host-rules.js";
import { plainHost, portOf } from "../../shared/fetch/host-rules.js";

/**
 * Addresses as browsers and Markdown parse them: `https://a`, `https:a`, `\\a`, `//a.example`,
 * `www.a.example`, `javascript:...`.
 */
const ADDRESS =
  /\b(?:https?|wss?|ftps?):[^\s<>"'`]+|(?<![\w:/\\])(?:\/\/|\\\\|\/\\|\\\/)[\p{L}\p{N}][^\s<>"'`]*\.[^\s<>"'`]+|(?<![\w@./-])www\.[^\s<>"'`]+|\b(?:javascript|vbscript|data|file|blob):[^\s<>"'`]+/giu;
const BEGINNING = /:|\/\/|\\|www\./i;
const ACTIVE = /^(?:javascript|vbscript|data|file|blob):/i;
/** Words of prose with a colon that are not an address: `Data: 5`, `file:line`. */
const NO_ADDRESS = /^(?:data:(?![\w.+-]+\/[\w.+-]+[;,])|file:(?!\/)|blob:(?!https?:))/i;
/** Characters after an address that belong to the sentence. */
const SENTENCE_END = /[.,;:!?*_|\]}\u2026\u00bb\u201d\u2019]+$/u;

/** Ends the address of a Markdown link at its bracket: `a](https://b) c`. */
function cutAtBracket(text: string): string {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "(") depth++;
    if (text[index] === ")" && --depth < 0) return text.slice(0, index);
  }
  return text;
}

function parsedAddress(address: string): URL | undefined {
  const text = /^www\./i.test(address)
    ? `https://${address}`
    : /^[/\\]{2}/.test(address)
      ? `https:${address}`
      : address;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Returns whether the address leads to an allowed host. An address that browsers can't parse is not
 * allowed.
 */
function isAllowed(address: string, hosts: HostList): boolean {
  if (ACTIVE.test(address)) return false;
  const url = parsedAddress(address);
  return (
    url !== undefined &&
    url.username === "" &&
    url.password === "" &&
    hosts.has(plainHost(url.hostname), portOf(url))
  );
}

/** Returns whether a text may contain a link. */
export function isLinkLike(text: string): boolean {
  return BEGINNING.test(text);
}

/** For streams. No link begins in words that contain none of these characters. */
export const plainLinkWords = plainWords({ letters: /[^\s:/\\.]/, length: Infinity });

/** Returns a detector of links to hosts that are not allowed. */
export function linkDetector(hosts: HostList): Detector {
  return (text) => {
    if (!isLinkLike(text)) return [];
    const findings: Finding[] = [];
    for (const { 0: all, index } of text.matchAll(ADDRESS)) {
      if (NO_ADDRESS.test(all)) continue;
      const address = cutAtBracket(all).replace(SENTENCE_END, "");
      if (!isAllowed(address, hosts))
        findings.push({ kind: "link", start: index, end: index + address.length });
    }
    return findings;
  };
}
