import { appendFile } from "node:fs/promises";
import type { AuditEntry, AuditPage } from "../../../../contracts/run-store.js";
import { eachLine } from "../../../../util/files/lines.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { parseJson } from "../../../../util/json/parse-json.js";
import { asFields } from "../../../../util/objects.js";

/** The mode of the file. Only the owner may read it. */
const MODE = 0o600;

/**
 * Appends an entry as a line. A previous line that a crash cut off remains, and readers omit it.
 */
export async function appendAuditLine(path: string, entry: AuditEntry): Promise<void> {
  await appendFile(path, `${(await endsWithLine(path)) ? "" : "\n"}${JSON.stringify(entry)}\n`, {
    mode: MODE,
  });
}

/** Returns the entries before a line, the newest first. */
export async function readAuditLines(
  path: string,
  limit: number,
  before = Number.POSITIVE_INFINITY,
): Promise<AuditPage> {
  const file = await openFileAt(path, "read");
  if (file === undefined) return { entries: [] };
  let line = 0;
  const last: { readonly line: number; readonly entry: AuditEntry }[] = [];
  try {
    await eachLine(file, ({ text }) => {
      if (line >= before) return false;
      const entry = asFields(parseJson(text));
      // Incomplete entries are not valid JSON.
      if (entry !== undefined) last.push({ line, entry: entry as unknown as AuditEntry });
      if (last.length > limit + 1) last.shift();
      line++;
      return true;
    });
  } finally {
    await file.close();
  }
  const page = last.slice(-limit);
  const [first] = page;
  return {
    entries: page.map(({ entry }) => entry).reverse(),
    ...(last.length > limit && first !== undefined && { next: String(first.line) }),
  };
}

async function endsWithLine(path: string): Promise<boolean> {
  const file = await openFileAt(path, "read");
  if (file === undefined) return true;
  try {
    const { size } = await file.stat();
    if (size === 0) return true;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 10;
  } finally {
    await file.close();
  }
}
