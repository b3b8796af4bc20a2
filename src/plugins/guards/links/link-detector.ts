import type { Detector, Finding } from "../shared/findings.js";
import { decodedText, findingsIn, readingEscapes } from "../shared/escapes.js";
import { plainWords } from "../shared/plain-words.js";
import type { HostList } from "../../shared/fetch/host-rules.js";
import { plainHost, portOf } from "../../shared/fetch/host-rules.js";

/**
 * Addresses as browsers and Markdown parse them: `https://a`, `https:a`, `\\a`, `//a.example`,
 * `www.a.example`, `javascript:...`.
 */
const ADDRESS =
  /\b(?:https?|wss?|ftps?):[^\s<>"'`]+|(?<![\w:/\\])(?:\/\/|\\\\|\/\\|\\\/)[\p{L}\p{N}][^\s<>"'`]*\.[^\s<>"'`]+|(?<![\w@./-])www\.[^\s<>"'`]+|\b(?:javascript|vbscript|data|file|blob):[^\s<>"'`]+/giu;
const BEGINNING = /:|\/\/|\\|&|www\./i;
/** A character in the form of HTML, or with the escape of Markdown. Renderers of Markdown decode both. */
const ENCODED = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(colon|sol|bsol|period));?|\\([:/.])/giu;
const NAMED: Readonly<Record<string, string>> = { colon: ":", sol: "/", bsol: "\\", period: "." };
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
export const plainLinkWords = plainWords({ letters: /[^\s:/\\.&]/, length: Infinity });

/** Returns the character of a match of {@link ENCODED}, as a page shows it. */
function shownCharacter([, hex, decimal, name = "", escaped]: RegExpExecArray): string {
  const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  return escaped ?? NAMED[name.toLowerCase()] ?? character;
}

/** Returns a detector of links to hosts that are not allowed. */
export function linkDetector(hosts: HostList): Detector {
  const foreignIn = (text: string): readonly Finding[] => {
    const findings: Finding[] = [];
    for (const { 0: all, index } of text.matchAll(ADDRESS)) {
      if (NO_ADDRESS.test(all)) continue;
      const address = cutAtBracket(all).replace(SENTENCE_END, "");
      if (!isAllowed(address, hosts))
        findings.push({ kind: "link", start: index, end: index + address.length });
    }
    return findings;
  };
  return readingEscapes((source) => {
    if (!isLinkLike(source)) return [];
    const findings = foreignIn(source);
    if (source.search(ENCODED) < 0) return findings;
    const shown = decodedText(source, ENCODED, shownCharacter);
    return [...findings, ...findingsIn(foreignIn, shown)];
  });
}
