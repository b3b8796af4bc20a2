/** Characters without a column on a terminal. `WIDE` are characters with two columns. */
const NARROWLESS = /^[\p{M}\p{Cf}]$/u;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{1B000}-\u{3FFFF}])$/u;

function columnsFor(character: string): number {
  if (NARROWLESS.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Returns the number of columns that a printable line takes on a terminal. */
export function columnCount(line: string): number {
  let columns = 0;
  for (const character of line) columns += columnsFor(character);
  return columns;
}

/** Cuts a printable line to at most `columns` columns. A cut line ends with `…`, or with `mark`. */
export function fitColumns(line: string, columns: number, mark = "…"): string {
  if (columnCount(line) <= columns) return line;
  let fitting = "";
  let left = columns - columnCount(mark);
  for (const character of line) {
    left -= columnsFor(character);
    if (left < 0) break;
    fitting += character;
  }
  return left < 0 && columns < columnCount(mark) ? "" : `${fitting.trimEnd()}${mark}`;
}

/** Fills a printable line with spaces up to `columns` columns. */
export function padColumns(line: string, columns: number): string {
  return `${line}${" ".repeat(Math.max(0, columns - columnCount(line)))}`;
}
