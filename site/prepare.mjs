// Makes the pages of the site in site/.pages from docs/, examples/ and the comments of the sources. Everything there is generated.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const site = fileURLToPath(new URL(".", import.meta.url));
const root = join(site, "..");
const pages = join(site, ".pages");
rmSync(pages, { recursive: true, force: true });
mkdirSync(join(pages, "public"), { recursive: true });

const write = (path, text) => {
  mkdirSync(dirname(join(pages, path)), { recursive: true });
  writeFileSync(join(pages, path), text);
};
/** Writes a page that has no source in docs/, so nobody can edit it there. */
const writeGenerated = (path, text) => write(path, text.startsWith("---\n") ? text : `---\neditLink: false\n---\n\n${text}`);
const read = (path) => readFileSync(join(root, path), "utf8");
const listed = (folder, end) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(end))
    .sort();

/** Returns a page of the repository as a page of the site. `depth`: the folders between the page and the root of the site. */
function adapted(text, depth) {
  const up = depth === 0 ? "./" : "../".repeat(depth);
  return text
    .replaceAll(/^<!--.*-->\n/gm, "")
    .replaceAll(/\]\((?:\.\.\/)+examples\/([\w/.-]+)\.ts\)/g, `](${up}examples/$1.md)`)
    .replaceAll(/\]\((?:\.\.\/)+CONTRIBUTING\.md\)/g, `](${up}contributing.md)`);
}

// The reference of all entry points, from the comments of the sources. The name of a module is the path of its source.
const { name: packageName, exports } = JSON.parse(read("package.json"));
const entries = Object.entries(exports)
  .filter(([, { types }]) => types !== undefined)
  .map(([path, { types }]) => ({
    specifier: packageName + path.slice(1),
    source: types.replace("./dist/", "").replace(/\.d\.ts$/, ".ts"),
    module: types.replace(/^\.\/dist\/src\/(.*?)(?:\/index)?\.d\.ts$/, "$1"),
  }));
const typedoc = spawnSync(
  process.execPath,
  [
    join(site, "node_modules/typedoc/bin/typedoc"),
    ...["--options", join(site, "typedoc.json"), "--logLevel", "Error"],
    ...entries.flatMap(({ source }) => ["--entryPoints", join(root, source)]),
  ],
  { cwd: site, stdio: "inherit" },
);
if (typedoc.status !== 0) throw new Error("typedoc failed");
const apiPages = readdirSync(join(pages, "api"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .map((file) => `api/${file}`);
/** The page of each exported name. */
const apiOf = new Map(
  apiPages.filter((file) => !file.endsWith("/index.md")).map((file) => [basename(file, ".md"), file]),
);
/** Names that the code on a page imports from the package. */
const importedBy = (text) =>
  [...text.matchAll(/^import (?:type )?\{([^}]*)\} from "agentensemble[\w/-]*";/gm)].flatMap(([, names]) =>
    names.split(",").map((name) => name.trim().replace(/^type /, "").replace(/ as .*/, "")),
  );
/** Pages that show how a name is used, by name. */
const usedIn = new Map();
const link = (from, to) => relative(dirname(from), to).replaceAll("\\", "/").replace(/^(?!\.)/, "./");

/** Adds links to the reference for all names that the page imports, and keeps the page for the way back. */
function withReference(file, text) {
  const names = [...new Set(importedBy(text))].filter((name) => apiOf.has(name)).sort();
  const title = /^# (.+)/m.exec(text)?.[1] ?? file;
  for (const name of names) usedIn.set(name, [...(usedIn.get(name) ?? []), { file, title }]);
  if (names.length === 0) return text;
  return `${text.trimEnd()}\n\n---\n\nReference: ${names.map((name) => `[\`${name}\`](${link(file, apiOf.get(name))})`).join(" · ")}\n`;
}

const docs = listed("docs", ".md");
for (const file of docs) {
  const page = file === "decisions/README.md" ? "decisions/index.md" : file;
  const text = adapted(read(`docs/${file}`), file.split("/").length - 1);
  write(page, withReference(page, text.replaceAll("decisions/README.md", "decisions/index.md")));
}
cpSync(join(root, "docs/pictures"), join(pages, "pictures"), { recursive: true });
writeGenerated("contributing.md", adapted(read("CONTRIBUTING.md"), 0).replaceAll("](docs/", "](./"));

writeGenerated("changes.md", read("CHANGELOG.md"));

// Examples: the comment that begins the file describes it.
const examples = listed("examples", ".ts");
const isProgram = (file) => /^\d\d-[\w-]+\.ts$|^[\w-]+\/main\.ts$/.test(file);
const described = examples.map((file) => {
  const code = read(`examples/${file}`);
  const comment = [];
  for (const line of code.split("\n")) {
    if (!line.startsWith("// ")) break;
    comment.push(line.slice(3));
  }
  return { file, code, about: comment.join(" ").replace(/ ?Run it: .*$/, "") };
});
for (const { file, code, about } of described) {
  const name = file.replace(/\.ts$/, "");
  const text = `# ${basename(name) === "main" ? dirname(name) : name}\n\n${about}\n\n\`\`\`ts\n${code}\`\`\`\n`;
  writeGenerated(`examples/${name}.md`, withReference(`examples/${name}.md`, text));
}
writeGenerated(
  "examples/index.md",
  `# Examples\n\nEach one runs in a checkout without a key: \`npm run example -- 01\`.\n\n| example | shows |\n|---|---|\n${described
    .filter(({ file }) => isProgram(file))
    .map(({ file, about }) => `| [${file.replace(/(\/main)?\.ts$/, "")}](./${file.replace(/\.ts$/, ".md")}) | ${about.replaceAll("|", "\\|")} |`)
    .join("\n")}\n`,
);

// A page for each error code.
const rows = [...read("docs/errors.md").matchAll(/^\| `(AE_\w+)` \| (.+?) \| (.+) \| (.+) \|$/gm)];
for (const [, code, type, when, advice] of rows)
  writeGenerated(`errors/${code}.md`, adapted(`# ${code}\n\nClass: ${type}.\n\n${when}\n\n## What to do\n\n${advice}\n\nAll errors: [Errors](../errors.md).\n`, 1).replaceAll(/\]\((?!\.|\w+:|#)([\w-]+\.md)/g, "](../$1"));

// The beginning.
const readme = read("README.md");
const at = (heading) => {
  const index = readme.indexOf(`\n${heading}\n`);
  if (index === -1) throw new Error(`README.md has no heading "${heading}"`);
  return index + 1;
};
const part = (from, to) => readme.slice(at(from), at(to));
writeGenerated(
  "index.md",
  adapted(`# AgentEnsemble for TypeScript\n\n${readme.split("\n").slice(2, 4).join("\n")}\n\n${part("## Quick start", "## Entry points")}`, 0)
    .replaceAll("](docs/", "](./")
    .replaceAll("`examples/`", "[examples](./examples/index.md)"),
);

// For language models: https://llmstxt.org
const titles = docs.map((file) => ({ file, title: /^# (.+)/m.exec(read(`docs/${file}`))?.[1] ?? file, text: read(`docs/${file}`) }));
const about = readme.split("\n")[2];
write(
  "public/llms.txt",
  `# AgentEnsemble for TypeScript\n\n> ${about}\n\n## Docs\n\n${titles.map(({ file, title }) => `- [${title}](/${file.replace(/\.md$/, ".html")})`).join("\n")}\n`,
);
write("public/llms-full.txt", [readme, ...titles.map(({ text }) => text)].join("\n\n---\n\n"));

// The way back from the reference: where a name is used, guides before examples. Comments may link to names that are not exported.
const place = ({ file }) => ["guides/", "examples/"].findIndex((start) => file.startsWith(start)) || -1;
for (const file of apiPages) {
  const uses = (usedIn.get(basename(file, ".md")) ?? []).sort((a, b) => place(a) - place(b)).slice(0, 8);
  const text = readFileSync(join(pages, file), "utf8");
  const back = uses.map((use) => `[${use.title}](${link(file, use.file)})`).join(" · ");
  writeGenerated(file, uses.length === 0 ? text : `${text.trimEnd()}\n\n## Used in\n\n${back}\n`);
}
for (const { specifier, module } of entries) {
  const file = `api/${module}/index.md`;
  writeGenerated(file, readFileSync(join(pages, file), "utf8").replace(/^# .*/m, `# ${specifier}`));
}
writeGenerated(
  "api/index.md",
  `# Reference\n\nEvery exported name, by entry point.\n\n${entries.map(({ specifier, module }) => `- [\`${specifier}\`](./${module}/index.md)`).join("\n")}\n`,
);
console.log(`${docs.length} pages, ${described.length} examples, ${rows.length} errors, ${apiPages.length} pages of reference`);
