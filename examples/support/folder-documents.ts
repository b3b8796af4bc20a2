import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { lexer } from "marked";
import { estimateTokenCount, splitByTokens } from "tokenx";
import Turndown from "turndown";

/** A file of a folder as text. */
export interface FolderDocument {
  /** Relative to the folder. */
  readonly path: string;
  readonly text: string;
}

/** A part of a document that is small enough to be found and quoted. */
export interface Passage {
  readonly path: string;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/** Turns the bytes of a file into text, as Markdown where it has headings. Add others by extension: for PDF, for instance, a function around the package `unpdf`. */
export type Reader = (bytes: Buffer) => string | Promise<string>;

const utf8 = (bytes: Buffer): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
const pages = new Turndown({ headingStyle: "atx" }).remove(["script", "style", "nav", "footer"]);
const READERS: Readonly<Record<string, Reader>> = {
  ".md": utf8,
  ".txt": utf8,
  ".html": (bytes) => pages.turndown(utf8(bytes)),
};

/**
 * Reads the files of a folder and its subfolders that have a reader for their extension. A file that can't be read is skipped with the reason.
 *
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
    if (!entry.isFile()) continue; // links are not followed: they may leave the folder
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
 * Splits a document at its headings, and what stands under a heading at its paragraphs into passages of at most `maxTokens` (estimated). Only a paragraph that is
 * longer is cut itself; its parts overlap by a tenth.
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
      const { depth, text: heading } = token as { depth: number; text: string }; // by its type
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
