// Installs the packed package into empty projects, with npm and with pnpm. Runs the programs of the
// README there, without a key. With npm, also checks the types of every entry point and its
// libraries, in a project without optional packages. Needs a build.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  entryPoints,
  inTemporaryFolder,
  installPacked,
  output,
  packed,
  root,
} from "./packed-project.mjs";

const PNPM = "pnpm@10";
const OFFLINE = ["wink-nlp", "wink-eng-lite-web-model"];
const keys = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", AGENTENSEMBLE_MODEL: "" };

/**
 * Returns the programs of the README: its blocks of TypeScript. They have no types and run
 * unchanged.
 */
function programs() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  return [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
}

function runPrograms(folder, manager) {
  const all = programs();
  assert.ok(all.length > 0, "the README has programs");
  all.forEach((code, index) => {
    const file = `program-${index + 1}.mjs`;
    writeFileSync(join(folder, file), code);
    const text = output(folder, process.execPath, [file], keys);
    assert.match(text, /\d+ tokens/);
  });
  console.log(`${manager}: ${all.length} program of the README ran`);
}

await inTemporaryFolder((folder) => {
  installPacked(folder, ["@types/node@20"], {});
  // The types of the bridge to the AI SDK come from its package.
  const entries = entryPoints().filter((entry) => entry !== "agentensemble/providers/ai-sdk");
  const compilerOptions = {
    ...{ target: "ES2023", lib: ["ES2023", "ESNext.Disposable"], module: "NodeNext" },
    ...{ types: ["node"], strict: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: false, noEmit: true },
  };
  const compiler = fileURLToPath(import.meta.resolve("@typescript/native/package.json"));
  for (const entry of entries) {
    writeFileSync(join(folder, "entry.ts"), `export * as entry from "${entry}";\n`);
    const config = JSON.stringify({ compilerOptions, files: ["entry.ts"] });
    writeFileSync(join(folder, "tsconfig.json"), config);
    output(folder, process.execPath, [compiler.replace("package.json", "bin/tsc"), "-p", "."]);
  }
  console.log(`npm: the types of ${entries.length} entry points hold, each alone`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
  output(folder, "npm", ["install", ...flags, ...OFFLINE]);
  runPrograms(folder, "npm");
});

await inTemporaryFolder((folder) => {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const archive = packed(folder);
  output(folder, "npx", ["--yes", PNPM, "add", "--ignore-scripts", archive, ...OFFLINE]);
  runPrograms(folder, "pnpm");
});
