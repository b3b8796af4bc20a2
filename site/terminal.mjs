// Runs the main example in a pseudo-terminal and draws its live view in the middle of the run, in an installed Chromium, into docs/pictures/terminal-run.png.
// Needs the command `script` of util-linux and a build of the root. Run it after a change of what the terminal shows: `npm run pictures --prefix site`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startChromium } from "./chromium.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [COLUMNS, ROWS] = [100, 24];
/** Erases what the live view has drawn, before it draws again. */
const ERASE = "\r\u001B[";

/** Returns what the main example prints on a terminal, without a key. */
async function printed() {
  const out = mkdtempSync(join(tmpdir(), "agentensemble-"));
  const { CI, NO_COLOR, FORCE_COLOR, NODE_OPTIONS, ...own } = process.env;
  const env = { ...own, TERM: "xterm-256color", LC_ALL: "C.UTF-8", OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", AGENTENSEMBLE_MODEL: "" };
  const line = `stty cols ${COLUMNS} rows ${ROWS}; '${process.execPath}' dist/examples/briefing/main.js examples/data --out '${out}'`;
  try {
    const child = spawn("script", ["--quiet", "--flush", "--return", "--command", line, "/dev/null"], { cwd: root, env, stdio: ["pipe", "pipe", "inherit"] });
    const [all, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    if (code !== 0) throw new Error(`The main example ended with ${code}:\n${all}`);
    return all.replaceAll(out, "out");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The output up to the last moment when between 6 and `most` of 14 tasks are done. */
function upTo(all, most) {
  const frames = all.split(ERASE);
  const last = frames.findLastIndex((frame) => new RegExp(`(?<!\\d)[6-${most}]/14 tasks`).test(frame));
  if (last < 0) throw new Error("The live view has shown no such moment");
  return frames.slice(0, last + 1).join(ERASE);
}

const shown = upTo(await printed(), 9);
const browser = await startChromium();
const page = await browser.newPage({ deviceScaleFactor: 1.5 });
const xterm = (file) => readFileSync(new URL(`node_modules/@xterm/xterm/${file}`, import.meta.url), "utf8");
await page.setContent('<!doctype html><body style="margin:0"><div id="screen" style="display:inline-block;padding:12px;background:#1b1f24"></div>');
await page.addStyleTag({ content: xterm("css/xterm.css") });
await page.addScriptTag({ content: xterm("lib/xterm.js") });
await page.evaluate(
  async ([cols, rows, output]) => {
    const terminal = new globalThis.Terminal({ cols, rows, fontFamily: "monospace", fontSize: 14, theme: { background: "#1b1f24" } });
    terminal.open(document.querySelector("#screen"));
    await new Promise((resolve) => terminal.write(output, resolve));
    terminal.resize(cols, terminal.buffer.active.cursorY + 1);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  },
  [COLUMNS, ROWS, shown],
);
await page.locator("#screen").screenshot({ path: `${root}docs/pictures/terminal-run.png` });
await browser.close();
console.log("terminal-run.png");
