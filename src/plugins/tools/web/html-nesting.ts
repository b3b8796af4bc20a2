const VOID_ELEMENTS: ReadonlySet<string> = new Set([
  ...[
    "area",
    "base",
    "basefont",
    "bgsound",
    "br",
    "col",
    "embed",
    "frame",
    "hr",
    "img",
    "input",
    "keygen",
    "link",
    "meta",
    "param",
    "source",
    "track",
    "wbr",
  ],
  // Leaves of pictures, which may number thousands, side by side.
  ...["circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "stop", "use"],
]);

/** Elements that end where the next one of their kind begins, although nothing says so. */
const IMPLIED_ENDS: ReadonlySet<string> = new Set([
  "dd",
  "dt",
  "li",
  "option",
  "p",
  "td",
  "th",
  "tr",
]);

const SPACE = /[\t\n\f\r ]/;

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  /** Where the text goes on. */
  readonly end: number;
}

function skip(html: string, from: number, signs: RegExp): number {
  let at = from;
  while (at < html.length && signs.test(html.charAt(at))) at++;
  return at;
}

/** Goes from the end of a tag's name to the end of the tag, past quoted values, by the rules of HTML. */
function tagEnd(html: string, from: number): number {
  let at = from;
  while (at < html.length) {
    at = skip(html, at, /[\t\n\f\r /]/);
    if (html.charAt(at) === ">") return at + 1;
    at = skip(html, at + 1, /[^\t\n\f\r />=]/); // a name, which may even begin with an equals sign
    const next = skip(html, at, SPACE);
    if (html.charAt(next) === "=") at = valueEnd(html, next + 1);
  }
  return html.length;
}

/** The end of an attribute's value; `from` is behind the equals sign. */
function valueEnd(html: string, from: number): number {
  const at = skip(html, from, SPACE);
  const sign = html.charAt(at);
  if (sign !== '"' && sign !== "'") return skip(html, at, /[^\t\n\f\r >]/);
  const close = html.indexOf(sign, at + 1);
  return close < 0 ? html.length : close + 1;
}

function commentEnd(html: string, from: number): number {
  const close = /--!?>/g;
  close.lastIndex = from + 2; // `<!-->` is a whole comment
  const found = close.exec(html);
  return found === null ? html.length : found.index + found[0].length;
}

/** What begins at a `<`: a tag, or only the place to go on at. */
function readMarkup(html: string, at: number): Tag | number {
  if (html.startsWith("<!--", at)) return commentEnd(html, at);
  const isEnd = html.charAt(at + 1) === "/";
  const start = isEnd ? at + 2 : at + 1;
  if (!/[a-zA-Z]/.test(html.charAt(start))) return at + 1;
  const end = skip(html, start, /[^\t\n\f\r />]/);
  return { name: html.slice(start, end).toLowerCase(), isEnd, end: tagEnd(html, end) };
}

/** Behind the text of a script or style, in which nothing is a tag. */
function rawTextEnd(html: string, { name, end }: Tag): number {
  const close = new RegExp(`</${name}[\\s/>]`, "gi");
  close.lastIndex = end;
  return close.exec(html)?.index ?? html.length;
}

/**
 * Whether elements of a page lie deeper in each other than `limit`. Parsers and converters go into elements by recursion, and a page made for it
 * would overflow their stack. It takes one pass; where pages are malformed it may count too many, and too few only where parsers disagree among themselves.
 */
export function nestsDeeperThan(html: string, limit: number): boolean {
  const open: string[] = [];
  for (let at = html.indexOf("<"); at >= 0;) {
    const markup = readMarkup(html, at);
    const tag = typeof markup === "number" ? undefined : markup;
    let end = typeof markup === "number" ? markup : markup.end;
    if (tag !== undefined && !VOID_ELEMENTS.has(tag.name)) {
      if (tag.isEnd) close(open, tag.name);
      // Within pictures and formulas these are elements like others.
      else if (
        (tag.name === "script" || tag.name === "style") &&
        !open.includes("svg") &&
        !open.includes("math")
      )
        end = rawTextEnd(html, tag);
      else if (!(IMPLIED_ENDS.has(tag.name) && open.at(-1) === tag.name)) open.push(tag.name);
    }
    if (open.length > limit) return true;
    at = html.indexOf("<", end);
  }
  return false;
}

/** An end tag ends all that is open within its element; one without an element ends nothing. */
function close(open: string[], name: string): void {
  const index = open.lastIndexOf(name);
  if (index >= 0) open.length = index;
}
