import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";

/** A file to read. */
export interface Document {
  readonly name: string;
  readonly path: string;
}

/** The documents of an input, and the reason for each omitted file. */
export interface Listing {
  readonly documents: readonly Document[];
  readonly skipped: readonly string[];
}

const EXTENSIONS = [".md", ".txt", ".rst"];
const MAX_DOCUMENTS = 40;
const MAX_BYTES = 200_000;
const NOT_TEXT = "is not a text file: it must be UTF-8 without zero bytes";

/** Returns the reason why a file can't be used, or `undefined`. */
async function problemOf(path: string): Promise<string | undefined> {
  const found = await stat(path);
  if (found.isDirectory()) return "is a folder";
  if (!found.isFile()) return "is no regular file";
  if (!EXTENSIONS.includes(extname(path).toLowerCase()))
    return `is none of ${EXTENSIONS.join(", ")}`;
  if (found.size === 0) return "is empty";
  if (found.size > MAX_BYTES) return `has ${found.size} bytes, more than ${MAX_BYTES}`;
  return textOf(await readFile(path)) === undefined ? NOT_TEXT : undefined;
}

/** Returns bytes as text, or `undefined` if they are not text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function filesAt(input: string): Promise<readonly string[]> {
  const found = await stat(input).catch((cause: unknown) => {
    throw new Error(
      `Cannot open '${input}': there is no such file or folder, or it may not be read`,
      { cause },
    );
  });
  if (!found.isDirectory()) return [input];
  const names = await readdir(input);
  return names.sort().map((name) => join(input, name));
}

/**
 * Lists the documents at `input`, a file or a folder. Omits `except`, because an earlier briefing
 * is not a source.
 * @throws Error if there is nothing to read, or too much.
 */
export async function listDocuments(input: string, except: string): Promise<Listing> {
  const documents: Document[] = [];
  const skipped: string[] = [];
  for (const path of await filesAt(input)) {
    const problem =
      resolve(path) === resolve(except)
        ? "is the briefing itself"
        : await problemOf(path).catch(() => "cannot be opened");
    if (problem === undefined) documents.push({ name: basename(path), path });
    else skipped.push(`${basename(path)} ${problem}`);
  }
  if (documents.length === 0)
    throw new Error(
      `Nothing to read in '${input}'${skipped.length === 0 ? ": the folder is empty" : `: ${skipped.join("; ")}`}`,
    );
  if (documents.length > MAX_DOCUMENTS)
    throw new Error(
      `'${input}' holds ${documents.length} documents, more than ${MAX_DOCUMENTS}: name a smaller folder`,
    );
  return { documents, skipped };
}

/**
 * Returns the text of a document.
 * @throws Error if the file is not text.
 */
export async function readDocument(
  { name, path }: Document,
  signal?: AbortSignal,
): Promise<string> {
  const text = textOf(await readFile(path, { signal }));
  if (text === undefined) throw new Error(`${name} ${NOT_TEXT}`);
  return text;
}

/** Returns the first Markdown heading of a text, otherwise `name`. */
export function titleOf(text: string, name: string): string {
  return /^#{1,6}\s+(.+?)\s*#*$/m.exec(text)?.[1] ?? name;
}
