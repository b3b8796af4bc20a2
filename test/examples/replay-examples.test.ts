import { expect } from "chai";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readdirSync } from "node:fs";
import { temporaryFolder, withoutDurations } from "../plugins/replay/record-and-replay.js";
import { projectRoot } from "../support/project.js";
import { runProgram } from "./run-program.js";

/** Ids of runs, and names of temporary folders. */
const RANDOM = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=recordings-)\w{6}/g;
const HOOK = ["--import", "./dist/test/examples/recorded-examples.js"];

/** The runs of every kernel of an example, as one of its processes saw them. */
async function endsOf(
  folder: string,
  name: string,
): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}-`)).sort();
  return Promise.all(
    files.map(async (file) => ({
      file: file.slice(name.length),
      text: await readFile(join(folder, file), "utf8"),
    })),
  );
}

/** One document per run; runs side by side end in any order. What an example records by itself has other ids each time. */
function comparable({
  file,
  text,
}: {
  readonly file: string;
  readonly text: string;
}): readonly unknown[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const runs = lines.map((line) =>
    withoutDurations(file.endsWith("-own.json") ? line.replaceAll(RANDOM, "(random)") : line),
  );
  return runs.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function runExample(
  file: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const { code, stderr } = await runProgram([...HOOK, `dist/examples/${file}`], environment)
    .finished;
  expect(stderr, `${file} in ${folder}`).to.equal("");
  expect(code).to.equal(0);
}

describe("every example, recorded", () => {
  const files = readdirSync(join(projectRoot, "dist/examples")).filter((file) =>
    /^\d\d-.*\.js$/.test(file),
  );

  for (const file of files) {
    it(`${file} replays twice without a model, with the same outputs and traces`, async function () {
      this.timeout(60_000);
      const folder = await temporaryFolder();
      try {
        await runExample(file, folder.path, { RECORD_EXAMPLE: folder.path });
        await runExample(file, folder.path, { REPLAY_EXAMPLE: folder.path, REPLAY_NAME: "once" });
        await runExample(file, folder.path, { REPLAY_EXAMPLE: folder.path, REPLAY_NAME: "twice" });
        const [recorded, once, twice] = await Promise.all(
          ["recorded", "once", "twice"].map((name) => endsOf(folder.path, name)),
        );
        const compared = (ends: typeof once): unknown =>
          ends?.map((end) => [end.file, comparable(end)]);
        const replayed = (ends: typeof once): unknown =>
          ends?.filter((end) => !end.file.endsWith("-own.json"));
        expect(replayed(once)).to.deep.equal(replayed(twice));
        expect(compared(once)).to.deep.equal(compared(recorded));
        expect(compared(twice)).to.deep.equal(compared(recorded));
      } finally {
        await folder.remove();
      }
    });
  }
});
