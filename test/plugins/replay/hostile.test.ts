import { Ensemble, FileFormatError, ModelCallError, Task, tool } from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { play } from "./record-and-replay.js";

const echo = tool({
  name: "echo",
  description: "Echoes",
  input: { type: "object" },
  execute: (input) => `${Object.keys(input as object).join()}`,
});
const team = (args: unknown) => ({
  model: new ScriptedModel([{ toolCalls: [{ name: "echo", arguments: args }] }, "done"]),
  tasks: [new Task({ description: "Echo", tools: [echo] })],
});

describe("a recording", () => {
  it("contains other hashes each time, which can't be computed without its salt", async () => {
    const files = ["one", "two"].map((name) => join(temporaryFolder(), name));
    const secret = { apiKey: "sk-very-secret-key-of-the-user" };
    for (const file of files) await play(team(secret), [recordTo(file)]);
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const keys = texts.map((text) => [...text.matchAll(/"key":"(?:task:)?([0-9a-f]{64})"/g)].map(([, key]) => key)); // prettier-ignore
    expect(keys[0]).to.have.length.above(1);
    expect(keys[0]).to.not.have.members(keys[1] as string[]);
    const plain = createHash("sha256")
      .update(JSON.stringify(["echo", secret]))
      .digest("hex");
    for (const text of texts) expect(text).to.not.include(plain);
    for (const file of files)
      expect((await play(team(secret), [replayFrom(file)])).output.raw).to.equal("done");
  });

  it("keeps calls whose arguments are nested 3,000 levels deep, and all others", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const deep = `{"a":${"[".repeat(3_000)}${"]".repeat(3_000)}}`;
    const { events, output } = await play(team(deep), [recordTo(file)]);
    expect(output.raw).to.equal("done");
    expect(events.filter(({ type }) => type === "run_warning")).to.deep.equal([]);
    const replay = await play(team(deep), [replayFrom(file, { onUnused: "fail" })]);
    expect(replay.error?.message).to.equal(undefined);
    expect(replay.output.raw).to.equal("done");
  });

  it("is refused with its line if any field has another type", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const model = new ScriptedModel([
      { toolCalls: [{ name: "echo", arguments: { a: 1 } }], usage: { inputTokens: 1 } },
      new ModelCallError(
        "busy",
        {
          provider: "scripted",
          modelId: "scripted",
          status: 429,
          retryable: false,
          retryAfterMs: 5,
        },
        { cause: new Error("the socket closed"), hint: "Wait." },
      ),
    ]);
    await play({ ...team({}), model }, [recordTo(file)]);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    for (const [index, line] of lines.entries())
      for (const [path, changed] of mutationsOf(JSON.parse(line))) {
        if (UNCHECKED.test(path) || path === ".format") continue;
        await writeFile(file, `${lines.with(index, JSON.stringify(changed)).join("\n")}\n`);
        await using ensemble = new Ensemble({ ...team({}), plugins: [replayFrom(file)] });
        const where = `line ${index + 1}, ${path}: ${JSON.stringify(changed)}`;
        const error = await ensemble.explain().then(
          () => expect.fail(where),
          (thrown: unknown) => thrown,
        );
        expect(FileFormatError.find(error)?.line, `${where}: ${String(error)}`).to.equal(index + 1);
      }
  });
});

/**
 * Fields with any value of a model, a tool or a store, and fields that are compared or shown only.
 */
const UNCHECKED = /^\.(response|value|message|request)\.|^\.(value|result\.structured|purpose)$/;

/** The value with one field replaced at a time, at any depth. */
function* mutationsOf(value: unknown, path = ""): Generator<[string, unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const put = (other: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
    for (const other of [null, 7, "text", [], {}, [null]])
      if (typeof other !== typeof inner || other === null) yield [`${path}.${key}`, put(other)];
    for (const [below, changed] of mutationsOf(inner, `${path}.${key}`))
      yield [below, put(changed)];
  }
}
