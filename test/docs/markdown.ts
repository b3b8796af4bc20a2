import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, readProjectFile } from "../support/project.js";

/** A fenced block of a page. */
export interface CodeBlock {
  readonly page: string;
  /** Line of the opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The file named by `<!-- example: path -->` on the line above. */
  readonly example: string | undefined;
}

/** README.md, AGENTS.md and all pages below docs/, relative to the project. */
export function documentationPages(): readonly string[] {
  const pages = readdirSync(join(projectRoot, "docs"), { recursive: true, encoding: "utf8" });
  return [
    "AGENTS.md",
    "README.md",
    ...pages
      .filter((file) => file.endsWith(".md"))
      .map((file) => `docs/${file.replaceAll("\\", "/")}`),
  ].sort();
}

/** The fenced blocks of a page, in order. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  const lines = readProjectFile(page).split("\n");
  const blocks: CodeBlock[] = [];
  for (let i = 0; i < lines.length; i++) {
    const language = /^```(\w*)$/.exec(lines[i] ?? "")?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", i + 1);
    const example = /^<!-- example: (\S+) -->$/.exec(lines[i - 1] ?? "")?.[1];
    blocks.push({ page, line: i + 1, language, code: lines.slice(i + 1, end).join("\n"), example });
    i = end;
  }
  return blocks;
}

/** The text of a page without its code. */
function proseOf(page: string): string {
  return readProjectFile(page)
    .replace(/^```\w*\n[\s\S]*?^```$/gm, "")
    .replace(/`[^`\n]*`/g, "");
}

/** The URLs that a page links to. */
export function linksOf(page: string): readonly string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
}

/** The anchors of a page's headings, as Markdown viewers create them. */
export function anchorsOf(page: string): readonly string[] {
  const text = readProjectFile(page).replace(/^```\w*\n[\s\S]*?^```$/gm, "");
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-"),
  );
}
