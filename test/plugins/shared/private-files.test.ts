import { expect } from "chai";
import { lstat, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ensemble, Task, type EnsembleOptions, type EnsembleOutput } from "agentensemble";
import { MemoryStore } from "agentensemble/memory";
import { jsonTraceExporter } from "agentensemble/observability";
import { recordTo } from "agentensemble/replay";
import { ReflectionStore } from "../../../src/ensemble/factories.js";
import { ScriptedModel } from "agentensemble/testing";
import { rejection } from "../../support/rejection.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { entryOf } from "../memory/file/folder.js";

async function run(options: Partial<EnsembleOptions> = {}): Promise<EnsembleOutput> {
  await using ensemble = new Ensemble({
    model: new ScriptedModel(() => "x"),
    tasks: [Task.of("a")],
    ...options,
  });
  return await ensemble.run({}, { runId: "r" });
}

const lesson = {
  refinedDescription: "d",
  refinedExpectedOutput: "e",
  observations: [],
  suggestions: [],
  reflectedAt: new Date(0),
  runCount: 1,
};

/**
 * All writers of files that may contain prompts: the names of the files in `folder`, and the write
 * function.
 */
const WRITERS: Readonly<
  Record<string, { readonly files: readonly string[]; write(folder: string): Promise<unknown> }>
> = {
  "trace.save()": {
    files: ["a.json"],
    write: async (folder) => (await run()).trace.save(join(folder, "a.json")),
  },
  "jsonTraceExporter({ dir, dag })": {
    files: ["r.trace.json", "r.dag.json"],
    write: (dir) => {
      const dag = new Ensemble({ tasks: [Task.of("a")] }).toDag();
      return run({ traceExporter: jsonTraceExporter({ dir, dag: () => dag }) });
    },
  },
  "recordTo()": {
    files: ["a.jsonl"],
    write: (folder) => run({ plugins: [recordTo(join(folder, "a.jsonl"))] }),
  },
  "ReflectionStore.file()": {
    files: ["a.json"],
    write: (folder) => ReflectionStore.file(join(folder, "a.json")).store("t", lesson),
  },
  "MemoryStore.file()": {
    files: ["a.jsonl"],
    write: async (folder) => {
      const store = MemoryStore.file(join(folder, "a.jsonl"));
      await store.store("s", entryOf("x"));
      await store.close?.();
    },
  },
};

const modeOf = async (path: string): Promise<number> => (await lstat(path)).mode & 0o777;

describe("files that may hold prompts", () => {
  let mask: number;
  let root: string;
  beforeEach(() => {
    root = temporaryFolder();
    mask = process.umask(0); // else the process could be what keeps others out
  });
  afterEach(() => process.umask(mask));

  for (const [name, { files, write }] of Object.entries(WRITERS)) {
    it(`are created for their owner only, with their folders: ${name}`, async () => {
      const folder = join(root, "deep", "er");
      await write(folder);
      expect(await readdir(folder)).to.have.members(files);
      for (const file of files) expect(await modeOf(join(folder, file)), file).to.equal(0o600);
      for (const made of [folder, join(root, "deep")])
        expect(await modeOf(made), made).to.equal(0o700);
    });

    it(`keep an existing folder unchanged: ${name}`, async () => {
      const folder = join(root, "shared");
      await mkdir(folder, 0o755);
      await write(folder);
      expect(await modeOf(folder)).to.equal(0o755);
      for (const file of files) expect(await modeOf(join(folder, file)), file).to.equal(0o600);
    });

    it(`do not follow a symbolic link to a file of another kind, nor a broken link: ${name}`, async () => {
      const victim = join(root, "victim");
      await writeFile(victim, "keep");
      for (const [folder, target] of [
        [join(root, "foreign"), victim],
        [join(root, "dangling"), join(root, "nothing")],
      ] as const) {
        await mkdir(folder);
        for (const file of files) await symlink(target, join(folder, file));
        const refused = await write(folder).then(
          () => false,
          () => true,
        );
        for (const file of files)
          expect((await lstat(join(folder, file))).isSymbolicLink(), file).to.equal(refused);
      }
      expect(await readFile(victim, "utf8")).to.equal("keep");
      expect(await rejection(lstat(join(root, "nothing")))).to.have.property("code", "ENOENT");
    });
  }
});
