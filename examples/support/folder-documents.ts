import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { lexer } from "marked";
import { estimateTokenCount, splitByTokens } from "tokenx";
import Turndown from "turndown";

/** A file of a folder as text. */
export interface FolderDocument {
  /** The path relative to the folder. */
  readonly path: string;
  readonly text: string;
}

/** A part of a document that is small enough to be found and quoted. */
export interface Passage {
  readonly path: string;
  /** The headings above the passage, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/**
 * Converts the bytes of a file to text, with Markdown headings if there are any. Add other readers
 * by extension. For PDF, for example, wrap the package `unpdf`.
 */
export type Reader = (bytes: Buffer) => string | Promise<string>;

const utf8 = (bytes: Buffer): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
const pages = new Turndown({ headingStyle: "atx" }).remove(["script", "style", "nav", "footer"]);
const READERS: Readonly<Record<string, Reader>> = {
  ".md": utf8,
  ".txt": utf8,
  ".html": (bytes) => pages.turndown(utf8(bytes)),
};

/**
 * Reads the files of a folder and its subfolders that have a reader for their extension. Skips a
 * file that can't be read, and reports the reason.
 * @throws the error of the file system if the folder can't be listed.
 */
export async function loadFolder(
  folder: string,
  readers: Readonly<Record<string, Reader>> = {},
): Promise<{
  readonly documents: readonly FolderDocument[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}> {
  const byExtension = { ...READERS, ...readers };
  const documents: FolderDocument[] = [];
  const skipped: { path: string; reason: string }[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue; // links are not followed, because they may leave the folder
    const full = join(entry.parentPath, entry.name);
    const path = full.slice(folder.length).replace(/^[\\/]+/, "");
    const read = byExtension[extname(entry.name).toLowerCase()];
    try {
      if (read === undefined) throw new Error(`no reader for '${extname(entry.name)}'`);
      documents.push({ path, text: await read(await readFile(full)) });
    } catch (error) {
      skipped.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);
  return { documents: documents.sort(byPath), skipped: skipped.sort(byPath) };
}

/**
 * Splits a document at its headings and paragraphs into passages of at most `maxTokens`
 * (estimated). Splits a longer paragraph into parts that overlap by a tenth.
 */
export function passagesOf({ path, text }: FolderDocument, maxTokens = 200): readonly Passage[] {
  const passages: Passage[] = [];
  const headings: string[] = [];
  let paragraphs = "";
  const end = (): void => {
    if (paragraphs.trim() !== "")
      passages.push({ path, headings: headings.filter(Boolean), text: paragraphs.trim() });
    paragraphs = "";
  };
  for (const token of lexer(text)) {
    if (token.type === "heading") {
      end();
      // Guaranteed by the type.
      const { depth, text: heading } = token as { depth: number; text: string };
      headings.length = depth - 1;
      headings[depth - 1] = heading;
      continue;
    }
    for (const part of splitByTokens(token.raw, maxTokens, { overlap: maxTokens / 10 })) {
      if (estimateTokenCount(paragraphs + part) > maxTokens) end();
      paragraphs += part;
    }
  }
  end();
  return passages;
}
