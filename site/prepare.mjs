// Makes the pages of the site in site/.pages from docs/, examples/ and the comments of the sources. Everything there is generated.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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

const docs = listed("docs", ".md");
for (const file of docs)
  write(file === "decisions/README.md" ? "decisions/index.md" : file, adapted(read(`docs/${file}`), file.split("/").length - 1).replaceAll("decisions/README.md", "decisions/index.md"));
cpSync(join(root, "docs/pictures"), join(pages, "pictures"), { recursive: true });
write("contributing.md", adapted(read("CONTRIBUTING.md"), 0).replaceAll("](docs/", "](./"));

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
  write(`examples/${name}.md`, `# ${basename(name) === "main" ? dirname(name) : name}\n\n${about}\n\n\`\`\`ts\n${code}\`\`\`\n`);
}
write(
  "examples/index.md",
  `# Examples\n\nEach one runs in a checkout without a key: \`npm run example -- 01\`.\n\n| example | shows |\n|---|---|\n${described
    .filter(({ file }) => isProgram(file))
    .map(({ file, about }) => `| [${file.replace(/(\/main)?\.ts$/, "")}](./${file.replace(/\.ts$/, ".md")}) | ${about.replaceAll("|", "\\|")} |`)
    .join("\n")}\n`,
);

// A page for each error code.
const rows = [...read("docs/errors.md").matchAll(/^\| `(AE_\w+)` \| (.+?) \| (.+) \| (.+) \|$/gm)];
for (const [, code, type, when, advice] of rows)
  write(`errors/${code}.md`, adapted(`# ${code}\n\nClass: ${type}.\n\n${when}\n\n## What to do\n\n${advice}\n\nAll errors: [Errors](../errors.md).\n`, 1).replaceAll(/\]\((?!\.|\w+:|#)([\w-]+\.md)/g, "](../$1"));

// The beginning.
const readme = read("README.md");
const part = (from, to) => readme.slice(readme.indexOf(from), readme.indexOf(to));
write(
  "index.md",
  adapted(`# AgentEnsemble for TypeScript\n\n${readme.split("\n").slice(2, 4).join("\n")}\n\n${part("## Quick start", "## What is there")}${part("## What is there", "## Entry points")}`, 0)
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
console.log(`${docs.length} pages, ${described.length} examples, ${rows.length} errors`);
void statSync;
