import { expect } from "chai";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readdirSync } from "node:fs";
import { temporaryFolder, withoutDurations } from "../plugins/replay/record-and-replay.js";
import { projectRoot } from "../support/project.js";
import { runProgram } from "./run-program.js";

const HOOK = ["--import", "./dist/test/examples/recorded-examples.js"];

/** Examples that do something else in a replay, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "23-memory-across-runs.js": "a tool keeps a fact that a handler reads later, and tools are not run in a replay",
  "34-record-and-replay.js": "it records and replays by itself, and a kernel takes one recorder",
  "47-mcp-client.js": "its prompt names a folder that gets another name with every run",
};

/** The runs of every kernel of an example, as one of its processes saw them. */
async function endsOf(folder: string, name: string): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}-`)).sort();
  return Promise.all(files.map(async (file) => ({ file: file.slice(name.length), text: await readFile(join(folder, file), "utf8") })));
}

/** One document per run; runs side by side end in any order. */
function comparable(text: string): readonly unknown[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => withoutDurations(line)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function runExample(file: string, folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const { code, stderr } = await runProgram([...HOOK, `dist/examples/${file}`], environment).finished;
  expect(stderr, `${file} in ${folder}`).to.equal("");
  expect(code).to.equal(0);
}

describe("every example, recorded", () => {
  const files = readdirSync(join(projectRoot, "dist/examples")).filter((file) => /^\d\d-.*\.js$/.test(file));

  for (const file of files) {
    const reason = EXCEPTIONS[file];
    if (reason !== undefined) continue;
    it(`${file} replays twice without a model, with the same outputs and traces`, async function () {
      this.timeout(60_000);
      const folder = await temporaryFolder();
      try {
        await runExample(file, folder.path, { RECORD_EXAMPLE: folder.path });
        await runExample(file, folder.path, { REPLAY_EXAMPLE: folder.path, REPLAY_NAME: "once" });
        await runExample(file, folder.path, { REPLAY_EXAMPLE: folder.path, REPLAY_NAME: "twice" });
        const [recorded, once, twice] = await Promise.all(["recorded", "once", "twice"].map((name) => endsOf(folder.path, name)));
        expect(once).to.deep.equal(twice);
        expect(once?.map(({ file: name, text }) => [name, comparable(text)])).to.deep.equal(recorded?.map(({ file: name, text }) => [name, comparable(text)]));
      } finally {
        await folder.remove();
      }
    });
  }
});
