import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the nearest folder with the compiler's options, which only the project has. */
function rootOf(folder: string): string {
  return existsSync(join(folder, "tsconfig.json")) ? folder : rootOf(dirname(folder));
}

/** The folder of the project, for sources and for compiled tests; ends with a slash. */
export const projectRoot = `${rootOf(import.meta.dirname)}/`;

/** The text of a file of the project. */
export function readProjectFile(path: string): string {
  return readFileSync(join(projectRoot, path), "utf8");
}

/** Paths, relative to the project, of all TypeScript files below one of its folders. */
export function typeScriptFiles(folder: string): readonly string[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .sort();
}

/**
 * Rows of the first table of a Markdown page whose heading row begins with `firstHeading`. Cells
 * have no surrounding back-quotes.
 */
export function tableOf(page: string, firstHeading: string): readonly (readonly string[])[] {
  const lines = readProjectFile(page).split("\n");
  const head = lines.findIndex((line) => line.startsWith(`| ${firstHeading} |`));
  const rows: string[][] = [];
  for (let i = head + 2; head >= 0 && (lines[i] ?? "").startsWith("|"); i++) {
    const cells = (lines[i] ?? "").split("|").slice(1, -1);
    rows.push(cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1")));
  }
  return rows;
}
