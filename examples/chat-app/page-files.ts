import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The files for the browser. */
export interface PageFiles {
  readonly html: string;
  readonly script: string;
}

/** Bundles the page. A production program bundles its page at build time. */
export async function pageFiles(): Promise<PageFiles> {
  const nearby = fileURLToPath(new URL("page", import.meta.url));
  // The compiled module is in dist/examples/chat-app/.
  const source = fileURLToPath(new URL("../../../examples/chat-app/page", import.meta.url));
  const folder = existsSync(join(nearby, "main.tsx")) ? nearby : source;
  const { outputFiles } = await build({
    entryPoints: [join(folder, "main.tsx")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    tsconfigRaw: {},
  });
  const html = await readFile(join(folder, "index.html"), "utf8");
  return { html, script: outputFiles[0]?.text ?? "" };
}
