import type { EnsembleOptions, Plugin } from "agentensemble";
import {
  Agent,
  Ensemble,
  FileFormatError,
  RecordingMismatchError,
  PluginError,
  Task,
  ValidationError,
  definePlugin,
  replace,
  tool,
} from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rejectionOf } from "../../support/rejection.js";
import { deadModel, play } from "./record-and-replay.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const ask = (
  text: string,
  script: ConstructorParameters<typeof ScriptedModel>[0] = ["fine", "fine"],
): EnsembleOptions => ({
  model: new ScriptedModel(script),
  tasks: [Task.of(text), Task.of("And then")],
});
const header = JSON.stringify({ format: "agentensemble/recording", version: 2, salt: "s" });
const beginning = '{"format":"agentensemble/recording","version":2,"salt":"';

describe("a replay", () => {
  let folder: string;
  let file = "";
  beforeEach(() => {
    folder = temporaryFolder();
    file = join(folder, "deep", "run.jsonl");
  });

  const boot = async (text: string): Promise<FileFormatError> => {
    await mkdir(join(folder, "deep"), { recursive: true });
    await writeFile(file, text);
    const ensemble = new Ensemble({ ...ask("x"), plugins: [replayFrom(file)] });
    const error = await rejectionOf(FileFormatError, ensemble.run());
    await ensemble.dispose();
    return error;
  };

  describe("of a request that was not recorded", () => {
    it("ends the run with the nearest recorded request and both sides of the difference", async () => {
      const agent = new Agent({ role: "Describer", goal: "Describe" });
      const describe = (bird: string): EnsembleOptions => ({
        ...ask("x"),
        tasks: [new Task({ description: `Describe the ${bird}`, agent })],
      });
      await play(describe("swift"), [recordTo(file)]);
      const { error } = await play(
        { ...describe("robin"), model: deadModel(new ScriptedModel([])) },
        [replayFrom(file)],
      );
      expect(error).to.be.instanceOf(RecordingMismatchError);
      expect(error?.message)
        .to.include("Call 1 of task 'task-1'")
        .and.to.include("message 2: recorded")
        .and.to.include("the swift")
        .and.to.include("the robin");
    });

    it("ends the run also if the workflow would continue after the failure", async () => {
      const make = (text: string): EnsembleOptions => ({
        ...ask(text),
        workflow: "PARALLEL",
        parallelErrorStrategy: "CONTINUE_ON_ERROR",
      });
      await play(make("One"), [recordTo(file)]);
      const { error } = await play(make("Two"), [replayFrom(file)]);
      expect(error?.code).to.equal("AE_RECORDING_MISMATCH");
    });

    it("lists the messages that only one of two conversations of different length contains", async () => {
      const once = tool({ name: "look_up", description: "Looks up", execute: () => "found" });
      const make = (
        tools: readonly (typeof once)[],
        script: ConstructorParameters<typeof ScriptedModel>[0],
      ): EnsembleOptions => ({
        model: new ScriptedModel(script),
        tasks: [
          new Task({ description: "Look", agent: new Agent({ role: "R", goal: "g", tools }) }),
        ],
      });
      await play(
        make([once], [{ toolCalls: [{ name: "look_up", arguments: { input: "x" } }] }, "done"]),
        [recordTo(file)],
      );
      const lines = (await readFile(file, "utf8"))
        .split("\n")
        .filter((line) => !(line.includes('"type":"call"') && line.includes('"iteration":1')));
      await writeFile(file, lines.join("\n"));
      const { error } = await play(make([once], []), [replayFrom(file)]);
      expect(error?.message).to.include('differs in message 3: not recorded, now "assistant:');
    });

    it("names the option of the request that differs or is missing", async () => {
      const make = (modelOptions: { readonly temperature?: number }): EnsembleOptions => ({
        model: new ScriptedModel(["fine"]),
        tasks: [
          new Task({
            description: "Look",
            agent: new Agent({ role: "R", goal: "g", modelOptions }),
          }),
        ],
      });
      await play(make({ temperature: 0.5 }), [recordTo(file)]);
      expect((await play(make({ temperature: 1 }), [replayFrom(file)])).error?.message).to.include(
        `differs in 'temperature': recorded "0.5", now "1"`,
      );
      expect((await play(make({}), [replayFrom(file)])).error?.message).to.include(
        `differs in 'temperature': recorded "0.5", now not sent`,
      );
    });

    it("reports that another image is sent with the same words", async () => {
      const showing = (data: string): Plugin =>
        definePlugin({
          name: "showing",
          apply: ({ hooks }) =>
            hooks.beforeLlmCall.tap({ name: "show", lane: "transform" }, ({ request }) => {
              const content = [
                { type: "text", text: "What is this?" } as const,
                { type: "image", data, mediaType: "image/png" } as const,
              ];
              return replace({
                request: { ...request, messages: [{ role: "user", content } as const] },
              });
            }),
        });
      await play(ask("One"), [showing("aaaa"), recordTo(file)]);
      const { error } = await play(ask("One"), [showing("bbbb"), replayFrom(file)]);
      expect(error?.message).to.include("differs in an image or a file of message 1");
    });

    it("reports a request to another model", async () => {
      await play(ask("One"), [recordTo(file)]);
      const { error } = await play(
        { ...ask("One"), model: new ScriptedModel(["x"], { modelId: "other" }) },
        [replayFrom(file)],
      );
      expect(error?.message).to.include("the model: recorded").and.to.include("scripted:other");
    });

    it("reports a request that is made once more than recorded", async () => {
      await play(ask("One"), [recordTo(file)]);
      await using ensemble = new Ensemble({ ...ask("One"), plugins: [replayFrom(file)] });
      await ensemble.run();
      const error = await rejectionOf(RecordingMismatchError, ensemble.run());
      expect(error.message).to.include("has been given back already");
    });

    it("continues live from that request with the option, and a second recording is complete", async () => {
      const first = new ScriptedModel(["a1", "b1"]);
      await play({ model: first, tasks: [Task.of("A"), Task.of("B"), Task.of("C")] }, [
        recordTo(file),
      ]).catch(() => undefined);
      const again = join(folder, "again.jsonl");
      const live = new ScriptedModel(["b2", "c2"]);
      const tasks = (): Task[] => [Task.of("A"), Task.of("B, changed"), Task.of("C")];
      const changed = await play({ model: live, tasks: tasks() }, [
        recordTo(again),
        replayFrom(file, { onMiss: "live" }),
      ]);
      expect(changed.output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a1", "b2", "c2"]);
      expect(live.requests.length).to.equal(2);
      const used = changed.events.filter((event) => event.type === "usage_recorded");
      expect(used.map(({ outcome }) => outcome)).to.deep.equal(["answered", "ok", "ok"]);
      expect(used.map(({ recorded }) => recorded === true)).to.deep.equal([true, false, false]);
      const replayed = await play({ model: deadModel(live), tasks: tasks() }, [
        replayFrom(again, { onUnused: "fail" }),
      ]);
      expect(replayed.output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a1", "b2", "c2"]);
    });

    it("names a tool call that was not recorded, and does not run the tool", async () => {
      let calls = 0;
      const lookUp = tool({
        name: "look_up",
        description: "Looks up",
        execute: () => void calls++,
      });
      const make = (): EnsembleOptions => ({
        model: new ScriptedModel([
          { toolCalls: [{ name: "look_up", arguments: { input: "x" } }] },
          "done",
        ]),
        tasks: [
          new Task({
            description: "Look",
            agent: new Agent({ role: "R", goal: "g", tools: [lookUp] }),
          }),
        ],
      });
      await play(make(), [recordTo(file)]);
      const text = (await readFile(file, "utf8"))
        .split("\n")
        .filter((line) => !line.includes('"type":"tool"'));
      await writeFile(file, text.join("\n"));
      const { error } = await play(make(), [replayFrom(file)]);
      expect(error?.code).to.equal("AE_RECORDING_MISMATCH");
      expect(error?.message).to.include("look_up");
      expect(calls).to.equal(1);
    });
  });

  describe("with fewer requests than the recording", () => {
    const shorter = (): EnsembleOptions => ({
      model: new ScriptedModel([]),
      tasks: [Task.of("One")],
    });
    it("succeeds, warns or fails, by the option", async () => {
      await play(ask("One"), [recordTo(file)]);
      expect((await play(shorter(), [replayFrom(file)])).error).to.equal(undefined);
      const warned = await play(shorter(), [replayFrom(file, { onUnused: "warn" })]);
      expect(
        warned.events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []))[0],
      ).to.include("call 1 of task 'task-2'");
      expect(
        (await play(shorter(), [replayFrom(file, { onUnused: "fail" })])).error?.code,
      ).to.equal("AE_RECORDING_MISMATCH");
    });
  });

  describe("of a file", () => {
    it("that is missing is reported when the kernel starts", async () => {
      await using ensemble = new Ensemble({ ...ask("x"), plugins: [replayFrom(file)] });
      expect((await rejectionOf(ValidationError, ensemble.run())).message).to.include(file);
    });

    it("that is foreign, damaged or of another version is refused with the number of the line", async () => {
      expect((await boot("hello\n")).line).to.equal(1);
      expect((await boot(`${header}\n{"type":"run"}\n`)).line).to.equal(2);
      expect((await boot(`${header}\n{"type":"call","key":1}\n`)).line).to.equal(2);
      expect((await boot(`${header}\n\u0000\u0001\n{"type":"run"}\n`)).line).to.equal(2);
      expect((await boot(`${header}\n{"type":"riddle"}\n`)).message).to.include("riddle");
      expect((await boot(header.replace(":2,", ":99,"))).message).to.include("99");
      expect(
        (await boot('{"schemaVersion":"1.1","captureMode":"OFF","taskTraces":[]}')).hint,
      ).to.include("FULL");
    });

    it("that is an invalid trace is refused with the number of its line", async () => {
      const agent = new Agent({ role: "Clerk", goal: "Answer" });
      const { output } = await play(
        {
          model: new ScriptedModel(["fine"]),
          tasks: [new Task({ description: "One", agent })],
          captureMode: "FULL",
        },
        [],
      );
      const text = output.trace.toJson();
      const lineWith = (part: string): number =>
        text.split("\n").findIndex((line) => line.includes(part)) + 1;
      const wrong = text.replace(/"responseText": "[^"]*"/, '"responseText": 7');
      expect(await boot(wrong)).to.include({ line: lineWith('"responseText"') });
      expect(
        await boot(text.replace(/"schemaVersion": "[^"]*"/, '"schemaVersion": "9"')),
      ).to.include({ line: lineWith('"schemaVersion"') });
      expect((await boot(text.replace(/"iterationIndex": \d+,/, ""))).line).to.equal(
        lineWith('"llmInteractions"') + 1,
      ); // of what lacks it
      const cut = text.split("\n").slice(0, 9).join("\n");
      expect(await boot(cut)).to.include({ line: 9 });
      expect((await boot(cut)).hint).to.include("FULL");
    });

    it("that contains a byte order mark or empty lines is replayed", async () => {
      await play(ask("One"), [recordTo(file)]);
      await writeFile(file, `\uFEFF${(await readFile(file, "utf8")).replaceAll("\n", "\r\n")}\r\n`);
      expect((await play(ask("One", []), [replayFrom(file)])).output.raw).to.equal("fine");
    });

    it("whose last line was truncated is replayed up to that line", async () => {
      await play(ask("One"), [recordTo(file)]);
      const text = await readFile(file, "utf8");
      await writeFile(
        file,
        text.slice(0, text.indexOf("\n", text.lastIndexOf('"type":"call"')) - 10),
      );
      const { error, output } = await play(ask("One"), [replayFrom(file)]);
      expect(error?.code).to.equal("AE_RECORDING_MISMATCH");
      expect(output.completedTasks.length).to.equal(1);
    });

    it("that is empty is refused", async () => {
      expect((await boot("")).code).to.equal("AE_FILE_FORMAT");
    });
  });

  it("refuses invalid options and sources", () => {
    expect(() => replayFrom(file, { onMis: "live" } as object)).to.throw(ValidationError, "onMiss");
    expect(() => replayFrom(file, { onMiss: "never" as "live" })).to.throw(
      ValidationError,
      "onMiss",
    );
    expect(() => replayFrom(file, { onUnused: "no" as "fail" })).to.throw(
      ValidationError,
      "onUnused",
    );
    expect(() => replayFrom({} as string)).to.throw(ValidationError, "source");
    expect(() => recordTo(" ")).to.throw(ValidationError, "recordTo");
  });

  it("and a recorder refuse a model that a later plugin sets, because it would be called", async () => {
    const other = new ScriptedModel(["other", "other"]);
    const exchanging = definePlugin({
      name: "exchanging",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "other", lane: "transform", order: "post" }, () =>
          replace({ model: other }),
        ),
    });
    expect(
      ValidationError.find((await play(ask("x"), [recordTo(file), exchanging])).error)?.message,
    ).to.include("recordTo");
    await play(ask("x"), [exchanging, recordTo(file)]);
    expect(other.requests.length).to.equal(2);
    expect(
      ValidationError.find((await play(ask("x"), [replayFrom(file), exchanging])).error)?.message,
    ).to.include("replayFrom");
    expect((await play(ask("x"), [exchanging, replayFrom(file)])).output.raw).to.equal("other");
    expect(other.requests.length).to.equal(2);
  });

  it("and a recorder serve one kernel at a time", async () => {
    const recorder = recordTo(file);
    await using one = new Ensemble({ ...ask("x"), plugins: [recorder] });
    await one.run();
    await using two = new Ensemble({ ...ask("x"), plugins: [recorder] });
    const error = await rejectionOf(PluginError, two.run());
    expect(error.message).to.include("in use by another kernel");
  });
});

describe("a recording", () => {
  let folder: string;
  beforeEach(() => void (folder = temporaryFolder()));

  it("replaces an older recording only after a run has ended, and leaves no other file", async () => {
    const file = join(folder, "run.jsonl");
    await writeFile(file, "older");
    const unused = new Ensemble({ ...ask("x"), plugins: [recordTo(file)] });
    await unused.explain();
    await unused.dispose();
    expect(await readFile(file, "utf8")).to.equal("older");
    await play(ask("x"), [recordTo(file)]);
    expect((await readFile(file, "utf8")).startsWith(beginning)).to.equal(true);
    expect(await readdir(folder)).to.deep.equal(["run.jsonl"]);
  });

  it("is accessible to its owner only, and replaces a symbolic link", async () => {
    const file = join(folder, "deep", "run.jsonl");
    await play(ask("x"), [recordTo(file)]);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await stat(join(folder, "deep"))).mode & 0o777).to.equal(0o700);
    const victim = join(folder, "victim");
    await writeFile(victim, "keep");
    await rm(file);
    await symlink(victim, file);
    await play(ask("x"), [recordTo(file)]);
    expect(await readFile(victim, "utf8")).to.equal("keep");
    expect((await readFile(file, "utf8")).startsWith(beginning)).to.equal(true);
  });

  it("of a program that ends early is kept under another name", async () => {
    const file = join(folder, "run.jsonl");
    let seen: readonly string[] = [];
    const look = new Task({
      description: "Look",
      handler: async () => ((seen = await readdir(folder)), "seen"),
    });
    await play({ tasks: [look] }, [recordTo(file)]);
    expect(seen).to.deep.equal([`run.jsonl.${process.pid}-0.part`]);
  });

  it("is refused if a folder is in its place, before any cost", async () => {
    const model = new ScriptedModel(["x", "x"]);
    await using ensemble = new Ensemble({ ...ask("x"), model, plugins: [recordTo(folder)] });
    const error = await rejectionOf(ValidationError, ensemble.run());
    expect(error.message).to.include(folder).and.to.include("is a folder");
    expect(error.hint).to.be.a("string");
    expect(model.requests).to.deep.equal([]);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("stops the kernel before any cost arises if it can't be written", async () => {
    await writeFile(join(folder, "file"), "");
    const model = new ScriptedModel(["a", "b"]);
    await using ensemble = new Ensemble({
      ...ask("x"),
      model,
      plugins: [recordTo(join(folder, "file", "run.jsonl"))],
    });
    expect((await rejectionOf(ValidationError, ensemble.run())).message).to.include("run.jsonl");
    expect(model.requests.length).to.equal(0);
  });

  it("contains no secret, and can be replayed on a machine with another secret", async () => {
    const file = join(folder, "run.jsonl");
    const make = (secret: string): EnsembleOptions => ({
      model: new ScriptedModel([
        { toolCalls: [{ name: "use", arguments: { input: secret } }] },
        `used ${secret}`,
        "then",
      ]),
      tasks: [
        new Task({
          description: `Use ${secret}`,
          agent: new Agent({
            role: "R",
            goal: "g",
            tools: [tool({ name: "use", description: "d", execute: (text) => `token: ${text}` })],
          }),
        }),
        Task.of("And then"),
      ],
    });
    const [ours, theirs] = ["sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa", "sk-proj-bbbbbbbbbbbbbbbbbbbbbbbb"];
    await play(make(ours), [recordTo(file)]);
    expect(await readFile(file, "utf8")).not.to.include("aaaaaaaaaaaa");
    const { error, output } = await play(make(theirs), [replayFrom(file, { onUnused: "fail" })]);
    expect(error).to.equal(undefined);
    expect(output.taskOutputs[0]?.raw).to.include("[redacted]");
  });

  it("contains every message once, for any length of the conversation", async () => {
    const file = join(folder, "run.jsonl");
    const turns = Array.from({ length: 20 }, (_, i) => ({
      toolCalls: [{ name: "count", arguments: { input: `turn ${i}` } }],
    }));
    const count = tool({ name: "count", description: "d", execute: (text) => `${text} counted` });
    await play(
      {
        model: new ScriptedModel([...turns, "done"]),
        tasks: [
          new Task({
            description: "Count",
            agent: new Agent({ role: "R", goal: "g", tools: [count] }),
          }),
        ],
      },
      [recordTo(file)],
    );
    expect((await readFile(file, "utf8")).split("turn 0 counted").length - 1).to.equal(2); // the message and the tool's result
  });
});
