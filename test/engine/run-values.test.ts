import type { RunInfo, ScopeName } from "agentensemble";
import {
  createToken,
  definePlugin,
  Ensemble,
  Kernel,
  Loop,
  MemoryScope,
  MemoryStore,
  runValue,
  Task,
  tool,
  Tokens,
  ValidationError,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { failure } from "../support/kernel-fixtures.js";

interface User {
  readonly id: string;
}
const User = createToken<User>("test/User");
const ada = { id: "ada" };

describe("values of a run", () => {
  const model = new ScriptedModel(({ messages, tools }) =>
    tools?.length === 1 && messages.at(-1)?.role !== "tool"
      ? { toolCalls: [{ name: "whoami", arguments: { input: "" } }] }
      : "done",
  );

  it("reach taps, handlers, tools and workflows of the run, and of no other", async () => {
    const seen: (string | undefined)[] = [];
    const note = (run: Pick<RunInfo, "find">): void => void seen.push(run.find(User)?.id);
    const watch = definePlugin({
      name: "watch",
      apply: ({ hooks }) => hooks.beforeRun.tap(({ run }) => note(run)),
    });
    const whoami = tool({
      name: "whoami",
      description: "Names the user",
      execute: (_input, { scope }) => (note(scope), "known"),
    });
    await using ensemble = new Ensemble({
      model,
      plugins: [watch],
      tasks: [
        new Task({ description: "Handle", handler: ({ run }) => (note(run), "handled") }),
        new Task({ description: "Ask", tools: [whoami] }),
      ],
    });
    await ensemble.run({}, { values: [runValue(User, ada)] });
    expect(seen).to.deep.equal(["ada", "ada", "ada"]);
    await ensemble.run();
    expect(seen.slice(3)).to.deep.equal([undefined, undefined, undefined]);
  });

  it("have lower precedence than bindings of the run, and higher precedence than options and the container", async () => {
    const [bound, given, option] = [1, 2, 3].map(() => MemoryStore.inMemory());
    const stores: unknown[] = [];
    const watch = definePlugin({
      name: "watch",
      apply: ({ hooks }) =>
        hooks.beforeRun.tap(({ run }) => void stores.push(run.get(Tokens.MemoryStore))),
    });
    await using ensemble = new Ensemble({
      tasks: [new Task({ description: "Handle", handler: () => "x" })],
      memoryStore: option,
      plugins: [watch],
    });
    if (given === undefined || bound === undefined) throw new Error("made above");
    const values = [runValue(Tokens.MemoryStore, given)];
    await ensemble.run({}, { values });
    await ensemble.run(
      {},
      {
        values,
        bindings: (bind) => void bind.single(Tokens.MemoryStore).toConstantValue(bound),
      },
    );
    await ensemble.run();
    expect(stores.map((store) => [bound, given, option].indexOf(store as never))).to.deep.equal([
      1, 0, 2,
    ]);
  });

  it("replace the models of tasks if they contain a model", async () => {
    const own = new ScriptedModel(() => "mine");
    await using ensemble = new Ensemble({ model, tasks: [Task.of("Say hello")] });
    const { raw } = await ensemble.run({}, { values: [runValue(Tokens.ChatModel, own)] });
    expect(raw).to.equal("mine");
  });

  it("are inherited by joined runs, whose own values take precedence", async () => {
    const seen: string[] = [];
    await using kernel = new Kernel();
    const inner = new Ensemble({
      kernel,
      tasks: [
        new Task({ description: "In", handler: ({ run }) => (seen.push(run.get(User).id), "x") }),
      ],
    });
    const outer = new Ensemble({
      kernel,
      tasks: [
        new Task({
          description: "Out",
          handler: async ({ run }) => {
            await inner.run({}, { parent: run });
            await inner.run({}, { parent: run, values: [runValue(User, { id: "bob" })] });
            return "x";
          },
        }),
      ],
    });
    await outer.run({}, { values: [runValue(User, ada)] });
    expect(seen).to.deep.equal(["ada", "bob"]);
  });

  it("cause an error that names the token if a value is missing", async () => {
    await using ensemble = new Ensemble({
      tasks: [new Task({ description: "Handle", handler: ({ run }) => run.get(User).id })],
    });
    const error = await failure(ensemble.run());
    expect(ValidationError.find(error)?.message).to.include("test/User");
  });

  it("are in no event and no trace", async () => {
    const events: unknown[] = [];
    await using ensemble = new Ensemble({
      model,
      captureMode: "FULL",
      on: (event) => void events.push(event),
      traceExporter: () => undefined,
      tasks: [Task.of("Say hello")],
    });
    const { trace } = await ensemble.run({}, { values: [runValue(User, { id: "hidden-user" })] });
    expect(JSON.stringify([events, trace.toJson()])).not.to.include("hidden-user");
  });

  it("are in the trace as their option shows them, and in joined runs' traces", async () => {
    await using kernel = new Kernel();
    const inner = new Ensemble({
      kernel,
      tasks: [new Task({ description: "In", handler: () => "x" })],
    });
    const traces: unknown[] = [];
    const outer = new Ensemble({
      kernel,
      tasks: [
        new Task({
          description: "Out",
          handler: async ({ run }) => {
            traces.push((await inner.run({}, { parent: run })).trace.values);
            traces.push(
              (await inner.run({}, { parent: run, values: [runValue(User, { id: "x" })] })).trace
                .values,
            );
            return "x";
          },
        }),
      ],
    });
    const shown = runValue(User, ada, { trace: ({ id }) => ({ initial: id[0] }) });
    const { trace } = await outer.run({}, { values: [shown] });
    expect(trace.values).to.deep.equal({ "test/User": { initial: "a" } });
    expect(JSON.parse(trace.toJson())).to.deep.include({ values: trace.values });
    expect(traces).to.deep.equal([trace.values, undefined]);
    const broken = runValue(User, ada, {
      trace: () => {
        throw new Error("boom");
      },
    });
    const failed = await outer.run({}, { values: [broken] });
    expect(failed.trace.values?.["test/User"]).to.include("boom");
    expect((await outer.run({}, { values: [runValue(User, ada)] })).trace.values).to.equal(
      undefined,
    );
  });

  it("reach guardrails, tools and functions of prompts", async () => {
    const seen: string[] = [];
    const note = (run: Pick<RunInfo, "get">): void => void seen.push(run.get(User).id);
    const whoami = tool({
      name: "whoami",
      description: "Names the user",
      execute: (_input, { run }) => (note(run), "known"),
    });
    const requests: string[] = [];
    const watching = new ScriptedModel((request, index) => {
      requests.push(request.messages[0]?.content as string);
      return index % 2 === 0
        ? { toolCalls: [{ name: "whoami", arguments: { input: "" } }] }
        : "done";
    });
    await using ensemble = new Ensemble({
      model: watching,
      prompts: { "agent.system": (_values, run) => `You serve ${run.get(User).id}` },
      tasks: [
        new Task({
          description: "Ask",
          tools: [whoami],
          inputGuardrails: [({ run }) => (note(run), true)],
          outputGuardrails: [({ run }) => (note(run), true)],
        }),
      ],
    });
    for (const id of ["ada", "bob"]) await ensemble.run({}, { values: [runValue(User, { id })] });
    expect(seen).to.deep.equal(["ada", "ada", "ada", "bob", "bob", "bob"]);
    expect(requests).to.deep.equal(["ada", "ada", "bob", "bob"].map((id) => `You serve ${id}`));
  });

  for (const [what, values, part] of [
    ["a value that is not a list", 7, "must be a list"],
    ["a value that runValue() did not create", [{ token: User, value: ada }], "must be a list"],
    ["two values of one token", [runValue(User, ada), runValue(User, ada)], "test/User' twice"],
  ] as const)
    it(`refuse ${what}`, async () => {
      await using ensemble = new Ensemble({ model, tasks: [Task.of("Say hello")] });
      const error = await failure(ensemble.run({}, { values: values as never }));
      expect(error).to.be.instanceOf(ValidationError);
      expect((error as Error).message).to.include(part);
    });

  it("are refused for collecting tokens, without a token, and without a value", () => {
    expect(() => runValue(Tokens.Tool as never, 7)).to.throw(ValidationError, "collects");
    expect(() => runValue("User" as never, 7)).to.throw(ValidationError, "a token");
    expect(() => runValue(User, undefined as never)).to.throw(ValidationError, "undefined");
    expect(() => runValue(User, ada, { trac: 1 } as never)).to.throw(ValidationError, "'trace'");
    expect(() => runValue(User, ada, { trace: "id" as never })).to.throw(ValidationError, "trace");
  });
});

describe("a memory scope that the run names", () => {
  it("fails the task before a model is called if its function throws or returns no name", async () => {
    for (const scope of [() => " ", (run: RunInfo) => run.get(User).id]) {
      const unused = new ScriptedModel([]);
      await using ensemble = new Ensemble({
        model: unused,
        memoryStore: MemoryStore.inMemory(),
        tasks: [new Task({ description: "Talk", memory: scope })],
      });
      const error = await failure(ensemble.run());
      expect(ValidationError.find(error)?.message).to.include("names a MemoryScope");
      expect(unused.requests).to.deep.equal([]);
    }
  });

  const model = new ScriptedModel(() => "Otters swim.");
  const mine: ScopeName = (run) => `chat-${run.get(User).id}`;

  it("is read and written under the name of the run, with its eviction", async () => {
    const memoryStore = MemoryStore.inMemory();
    await using ensemble = new Ensemble({
      model,
      memoryStore,
      tasks: [
        new Task({ description: "Talk", memory: [MemoryScope.of(mine).keepLastEntries(1), "all"] }),
      ],
    });
    for (const id of ["ada", "ada", "bob"])
      await ensemble.run({}, { values: [runValue(User, { id })] });
    const counts = await Promise.all(
      ["chat-ada", "chat-bob", "all"].map(
        async (scope) => (await memoryStore.retrieve(scope, "", 9)).length,
      ),
    );
    expect(counts).to.deep.equal([1, 1, 3]);
  });

  it("is cleared by a loop under that name", async () => {
    const memoryStore = MemoryStore.inMemory();
    await using ensemble = new Ensemble({
      model,
      memoryStore,
      loops: [
        new Loop({
          name: "again",
          tasks: [new Task({ description: "Talk", memory: mine })],
          maxIterations: 2,
          memoryMode: "FRESH_PER_ITERATION",
        }),
      ],
    });
    await ensemble.run({}, { values: [runValue(User, ada)] });
    expect(await memoryStore.retrieve("chat-ada", "", 9)).to.have.length(1);
  });

  for (const [what, memory, part] of [
    ["throws", mine, "test/User"],
    ["returns no name", (): string => " ", "must return a name"],
  ] as const)
    it(`fails the task before a model is called when its function ${what}`, async () => {
      const { length } = model.requests;
      await using ensemble = new Ensemble({
        model,
        memoryStore: MemoryStore.inMemory(),
        tasks: [new Task({ description: "Talk", memory })],
      });
      const error = await failure(ensemble.run());
      expect(ValidationError.find(error)?.message).to.include(part);
      expect(model.requests).to.have.length(length);
    });

  it("is refused if it is listed twice", () => {
    expect(() => new Task({ description: "Talk", memory: [mine, mine] })).to.throw(
      ValidationError,
      "twice",
    );
    expect(new Task({ description: "Talk", memory: [mine, () => "x"] }).memory).to.have.length(2);
  });
});
