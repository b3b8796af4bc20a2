// Invalid journals and invalid ids of runs.
import { appendFile, readFile, readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Task, type EnsembleOutput } from "agentensemble";
import { Journal, type DurableOptions } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { agent, keptEnsemble, modelOf, task } from "./kept-team.js";

describe("a run in a folder", () => {
  it("remains in that folder, with any id", async () => {
    const parent = temporaryFolder();
    const ids = ["../up", "a/../../up", "/etc/up", "..", ".", "__proto__", "a\\b", "CON", "r.lock"];
    for (const runId of ids) {
      const journal = Journal.file(join(parent, "runs"));
      const { model, calls } = modelOf();
      await using ensemble = keptEnsemble({ model, tasks: [task("one")] }, { journal });
      for (let n = 0; n < 2; n++)
        expect((await ensemble.run({}, { runId })).raw, runId).to.equal("done one");
      expect(calls, runId).to.deep.equal(["one"]);
      expect((await journal.get(runId))?.status).to.equal("completed");
      await journal.close();
    }
    expect(await readdir(parent)).to.deep.equal(["runs"]);
    const journal = Journal.file(join(parent, "runs"));
    const listed = (await journal.list()).runs.map(({ runId }) => runId);
    await journal.close();
    expect([...listed].sort()).to.deep.equal([...ids].sort());
  });

  const names = ["one", "two", "three"];
  const play = async (
    folder: string,
    fails?: string,
  ): Promise<{ readonly output: EnsembleOutput; readonly calls: readonly string[] }> => {
    const journal = Journal.file(folder);
    const { model, calls } = modelOf(() => fails);
    const tasks = [...names, "last"].map((name) => task(name));
    await using ensemble = keptEnsemble({ model, tasks }, { journal });
    const output = await ensemble.run({}, { runId: "r", throwOnError: false });
    await journal.close();
    return { output, calls };
  };

  it("repeats only the calls whose lines were cut off, for any position of the cut", async () => {
    const whole = temporaryFolder();
    await play(whole, "last");
    const bytes = await readFile(join(whole, "r.jsonl"));
    const lines = bytes.toString().split("\n");
    for (let kept = 2; kept < lines.length - 1; kept++) {
      const folder = temporaryFolder();
      await writeFile(join(folder, "r.jsonl"), bytes);
      const end = Buffer.byteLength(`${lines.slice(0, kept).join("\n")}\n`);
      await truncate(join(folder, "r.jsonl"), end + Math.floor((lines[kept] ?? "").length / 2));
      const journal = Journal.file(folder);
      const entries = await journal.entries("r");
      await journal.close();
      const { output, calls } = await play(folder);
      const isKept = (name: string): boolean =>
        entries.some(({ key }) => key.startsWith(`C:${name}@`) || key.startsWith(`T:${name}@`));
      expect(calls, `${kept} lines`).to.deep.equal([...names, "last"].filter((n) => !isKept(n)));
      expect(output.raw, `${kept} lines`).to.equal("done last");
      expect(output.metrics.inputTokens, `${kept} lines`).to.equal(40);
    }
  });

  it("is refused with its name if it is stored in another version, and kept unchanged", async () => {
    const folder = temporaryFolder();
    await play(folder, "last");
    const path = join(folder, "r.jsonl");
    const text = (await readFile(path, "utf8")).replace('"version":1', '"version":99');
    await writeFile(path, text);
    const { output, calls } = await play(folder);
    expect(output.error?.code).to.equal("AE_JOURNAL");
    expect(output.error?.message).to.include("r.jsonl").and.include("99");
    expect(calls).to.deep.equal([]);
    expect(await readFile(path, "utf8")).to.equal(text);
  });

  it("is refused if it has an invalid line in the middle, and continues after its removal", async () => {
    const folder = temporaryFolder();
    await play(folder, "last");
    const path = join(folder, "r.jsonl");
    const text = await readFile(path, "utf8");
    const end = text.trimEnd().split("\n").at(-1) ?? "";
    await appendFile(path, `no line\n${end}\n`);
    const { output, calls } = await play(folder);
    expect(output.error?.code).to.equal("AE_JOURNAL");
    expect(calls).to.deep.equal([]);
    await writeFile(path, text);
    expect((await play(folder)).calls).to.deep.equal(["last"]);
  });
});

describe("a finished task whose output no longer matches its schema", () => {
  const play = async (
    journal: Journal,
    schema: z.ZodType<unknown>,
    o: { readonly answer: string; readonly fails?: boolean; readonly durable?: DurableOptions },
  ): Promise<{ readonly output: EnsembleOutput; readonly asked: number }> => {
    let asked = 0;
    const model = new ScriptedModel(() => {
      asked++;
      return { text: o.answer };
    });
    const clerk = agent("Clerk");
    const typed = new Task({ name: "typed", description: "Count", agent: clerk, outputType: schema }); // prettier-ignore
    const end = new Task({
      name: "end",
      description: "End",
      handler: (): string => {
        if (o.fails === true) throw new Error("not yet");
        return "ended";
      },
    });
    await using ensemble = keptEnsemble({ model, tasks: [typed, end] }, { journal, ...o.durable });
    const output = await ensemble.run({}, { runId: "r", throwOnError: false });
    return { output, asked };
  };
  const begun = async (): Promise<Journal> => {
    const journal = Journal.inMemory();
    await play(journal, z.object({ count: z.number() }), { answer: '{"count":1}', fails: true });
    return journal;
  };
  const changed = z.object({ count: z.string() });
  const answer = '{"count":"two"}';

  it("ends the run by default, without a model call", async () => {
    const { output, asked } = await play(await begun(), changed, { answer });
    expect(output.error?.code).to.equal("AE_JOURNAL_MISMATCH");
    expect(output.error?.message).to.include("T:typed@1");
    expect(asked).to.equal(0);
  });

  it("is executed again if the option requests it", async () => {
    const durable = { onChange: "redo" } as const;
    const { output, asked } = await play(await begun(), changed, { answer, durable });
    expect(output.error).to.equal(undefined);
    expect(output.taskOutputs[0]?.parsed).to.deep.equal({ count: "two" });
    expect(asked).to.equal(1);
  });

  it("fails its task if entries are kept, without a model call", async () => {
    const durable = { onChange: "keep" } as const;
    const { output, asked } = await play(await begun(), changed, { answer, durable });
    expect(output.error?.cause).to.include({ code: "AE_OUTPUT_PARSING" });
    expect(asked).to.equal(0);
  });
});
