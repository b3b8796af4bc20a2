import { build } from "esbuild";

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>Chat</title>
<link rel="icon" href="data:," />
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 40rem; padding: 1rem; }
  article { border-top: 1px solid #ccc; padding: 0.5rem 0; }
  article[data-role="user"] { font-weight: 600; }
  .tool { background: #f2f4f7; border-radius: 6px; padding: 0.5rem; margin: 0.5rem 0; }
  form { display: flex; gap: 0.5rem; margin-top: 1rem; }
  form input { flex: 1; }
  [role="alert"] { color: #a40000; }
</style>
<div id="root"></div>
<script type="module" src="/app.js"></script>
</html>`;

/** Bundles the page. For production, do this once when the program is built. */
export async function pageFiles(): Promise<{ readonly html: string; readonly script: string }> {
  const { outputFiles } = await build({
    entryPoints: ["page/main.tsx"],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return { html: HTML, script: outputFiles[0]?.text ?? "" };
}
