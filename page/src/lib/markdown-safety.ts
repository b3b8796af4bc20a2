/**
 * Maximum depth of quotes and lists. Deeper levels are removed, because a parser recurses for each
 * level.
 */
export const MAX_DEPTH = 20;

/**
 * Removes nesting beyond a limit from the beginnings of lines, and runs of brackets and stars that
 * slow parsers down.
 */
export function tamed(markdown: string): string {
  return markdown
    .replace(/^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){21,}/gm, firstMarkers)
    .replace(/^ {80,}(?=\S)/gm, " ".repeat(2 * MAX_DEPTH))
    .replace(/([[\]*_~`!<(])\1{99,}/g, (run: string) => run.slice(0, 99));
}

/** Returns the first markers of quotes and lists at the beginning of a line. */
function firstMarkers(markers: string): string {
  const each = markers.match(/[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])/g) ?? [];
  return each.slice(0, MAX_DEPTH).join("");
}

/**
 * Returns the address of a link if a browser may open it: http, https or mail. Returns `undefined`
 * otherwise.
 */
export function safeAddress(href: string): string | undefined {
  try {
    const { protocol, href: address } = new URL(href);
    return ["http:", "https:", "mailto:"].includes(protocol) ? address : undefined;
  } catch {
    return undefined; // a relative address would lead into the page
  }
}
