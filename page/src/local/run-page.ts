import type { LogEntry } from "../../../src/contracts/run-store.js";
import { SAVED_RUN, type SavedRun } from "./saved-page.js";

/** The parts of a page in one file. */
export interface RunPageParts {
  readonly title: string;
  readonly run: SavedRun;
  /** The files of the page by name: scripts and style sheets. */
  readonly files: ReadonlyMap<string, string>;
  /** The name of the first script. */
  readonly main: string;
}

/** Allows only the contents of the file: the page makes no requests. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/**
 * Creates an HTML file that contains the page and one run. The file opens without a program. The
 * scripts become data URLs. An import map assigns them the names under which they import each
 * other.
 */
export function runPage({ title, run, files, main }: RunPageParts): string {
  const scripts = [...files].filter(([name]) => name.endsWith(".js"));
  const names = scripts.map(([name]) => name);
  const imports = Object.fromEntries(
    scripts.map(([name, text]) => [nameOf(name), dataAddress(renamed(text, names))]),
  );
  const styles = [...files].flatMap(([name, text]) => (name.endsWith(".css") ? [text] : []));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escaped(title)}</title>
<style>${styles.join("\n").replaceAll("</", "<\\/")}</style>
<script type="importmap">${inScript({ imports })}</script>
</head>
<body>
<script type="application/json" id="${SAVED_RUN}">${inScript(run)}</script>
<script type="module">import ${JSON.stringify(nameOf(main))};</script>
</body>
</html>
`;
}

/** Returns the entries as lines of JSON, as in files of stores. */
export function logText(entries: readonly LogEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const nameOf = (file: string): string => `page/${file}`;

/** Returns a script whose imports have the names of the import map. */
function renamed(script: string, names: readonly string[]): string {
  return names.reduce(
    (text, name) => text.replaceAll(`"./${name}"`, JSON.stringify(nameOf(name))),
    script,
  );
}

function dataAddress(script: string): string {
  const bytes = new TextEncoder().encode(script);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:text/javascript;base64,${btoa(text)}`;
}

/** Returns JSON for an element of a page. The JSON can't end the element. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
