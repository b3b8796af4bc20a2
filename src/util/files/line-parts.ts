const PART_BYTES = 1 << 20;

/** Joins lines to parts of about one megabyte, for writing a file. */
export function* lineParts(lines: Iterable<string>): Generator<Buffer> {
  let text = "";
  for (const line of lines) {
    text += line;
    if (text.length < PART_BYTES) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}
