// Bundles the page of the dashboard into dist/bundle/dashboard/page/: index.html, the scripts, one
// style sheet and an icon. `manifest.json` maps the paths of the server to the files.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export const PAGE_FOLDER = "dist/bundle/dashboard/page";

// The page uses only the lexer of marked. The package is one file that creates a parser when it is
// loaded. Without its last statements, the bundle omits the parser and all other unused code. The
// parser would write HTML.
const lexerOnly = {
  name: "lexer-only",
  setup(bundler) {
    bundler.onLoad({ filter: /[/\\]marked\.esm\.js$/ }, ({ path }) => {
      const [, head, lexer] =
        /^(.*?;)var \w+=new \w+;function .*export\{.*?(\w+) as Lexer,.*\};\s*$/s.exec(
          readFileSync(path, "utf8").replace(/\/\/# sourceMappingURL.*\s*$/, ""),
        ) ?? [];
      if (lexer === undefined)
        throw new Error("marked has another form: look how its lexer can be bundled alone");
      return { contents: `${head}export{${lexer} as Lexer};` };
    });
  },
};

/** Returns the options of esbuild for the page of the project in `root`. */
export function pageOptions(root) {
  return {
    absWorkingDir: root,
    entryPoints: { app: "page/src/main.tsx" },
    outdir: PAGE_FOLDER,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    sourcemap: false,
    metafile: true,
    legalComments: "none", // NOTICE contains the licences
    logLevel: "warning",
    plugins: [lexerOnly],
    tsconfigRaw: {}, // the compiler's options concern other sources
  };
}

/** Writes the files around the bundle, with the file names of the bundle. */
export function writePageFiles(root, { outputs }) {
  const names = Object.keys(outputs).map((file) => basename(file));
  const [script, { imports, cssBundle }] = Object.entries(outputs).find(
    ([, { entryPoint }]) => entryPoint === "page/src/main.tsx",
  );
  // The imports of the first script are fetched together with it.
  const preloads = imports
    .filter(({ kind }) => kind === "import-statement")
    .map(({ path }) => `<link rel="modulepreload" href="${basename(path)}" />`);
  const folder = join(root, PAGE_FOLDER);
  const html = readFileSync(join(root, "page/src/index.html"), "utf8")
    .replace("app.css", basename(cssBundle))
    .replace("app.js", basename(script))
    .replace("</head>", `${preloads.join("\n    ")}</head>`);
  writeFileSync(join(folder, "index.html"), html);
  copyFileSync(join(root, "page/src/favicon.svg"), join(folder, "favicon.svg"));
  // The page reads the manifest to create a file that contains all scripts.
  const files = {
    "/": "index.html",
    "/favicon.svg": "favicon.svg",
    "/manifest.json": "manifest.json",
  };
  for (const name of names) files[`/${name}`] = name;
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify({ files }, undefined, 2)}\n`);
}

/** Builds the page once. */
export async function buildPage(root, { build }) {
  const folder = join(root, PAGE_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build(pageOptions(root));
  writePageFiles(root, metafile);
}
