// Packs a fresh copy of the package without a build: `prepack` must build it.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join, posix } from "node:path";
import { inTemporaryFolder, output, root } from "./packed-project.mjs";

await inTemporaryFolder((folder) => {
  for (const file of output(root, "git", ["ls-files", "-z"]).split("\0"))
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(folder, file));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const text = output(folder, "npm", ["pack", "--dry-run", "--json", "--ignore-scripts=false"]);
  const [{ files }] = JSON.parse(text.slice(text.indexOf("[\n"), text.lastIndexOf("\n]") + 2));
  const packed = new Set(files.map(({ path }) => path));
  const { exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const wanted = [...Object.values(exports), ...Object.values(bin)].flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  assert.deepEqual(
    wanted.filter((path) => !packed.has(path.replace("./", ""))),
    [],
    "files that entry points name and the package lacks",
  );
  const pages = [...packed].filter((path) => path.endsWith(".md") && path !== "CHANGELOG.md");
  const broken = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
      .map(([, target]) => posix.join(posix.dirname(page), target).replace(/\/$/, ""))
      .filter((path) => ![...packed].some((file) => file === path || file.startsWith(`${path}/`)))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(broken, [], "links of the README and of pages to files that the package lacks");
  console.log(`The package of a fresh copy has ${packed.size} files, all entry points among them`);
});
