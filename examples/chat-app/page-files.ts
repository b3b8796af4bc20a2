import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** What a browser gets. */
export interface PageFiles {
  readonly html: string;
  readonly script: string;
}

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>Chat</title>
<link rel="icon" href="data:," />
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; display: grid; grid-template-columns: 14rem 1fr; gap: 2rem; }
  nav ul { list-style: none; padding: 0; }
  article { border-top: 1px solid #ccc; padding: 0.5rem 0; }
  article[data-role="user"] { font-weight: 600; }
  .tool { background: #f2f4f7; border-radius: 6px; padding: 0.5rem; margin: 0.5rem 0; }
  form { display: flex; gap: 0.5rem; margin-top: 1rem; }
  form input[name="text"] { flex: 1; }
  [role="alert"] { color: #a40000; }
</style>
<div id="root" style="display: contents"></div>
<script type="module" src="/app.js"></script>
</html>`;

/** Bundles the page. Programs for production do this once, when they are built. */
export async function pageFiles(): Promise<PageFiles> {
  const nearby = fileURLToPath(new URL("page/main.tsx", import.meta.url));
  const source = fileURLToPath(
    new URL("../../../examples/chat-app/page/main.tsx", import.meta.url),
  ); // from dist
  const { outputFiles } = await build({
    entryPoints: [existsSync(nearby) ? nearby : source],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    tsconfigRaw: {},
  });
  return { html: HTML, script: outputFiles[0]?.text ?? "" };
}
