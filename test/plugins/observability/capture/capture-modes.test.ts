import { expect } from "chai";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  CaptureModeDefinition,
  EnsembleOptions,
  EnsembleOutput,
  RunOptions,
} from "agentensemble";
import {
  Agent,
  definePlugin,
  Ensemble,
  EntityMemory,
  Kernel,
  Loop,
  MemoryStore,
  Task,
  Tokens,
  ValidationError,
  standardPlugins,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { setEnvironment } from "../../../support/environment.js";

const KEY = "sk-live-3f9a7c51e2d84b60";
const remember = tool({
  name: "remember",
  description: "Remembers",
  execute: async (text, { scope }) => {
    await scope.writeMemory("notes", { content: text, storedAt: new Date(0) });
    return { kept: text, password: "hunter2" };
  },
});

function options(more: Partial<EnsembleOptions> = {}): EnsembleOptions {
  const model = new ScriptedModel([
    {
      toolCalls: [
        { name: "remember", arguments: { input: "bees" } },
        { name: "remember", arguments: "{broken" },
      ],
    },
    "The answer",
  ]);
  return {
    model,
    memoryStore: MemoryStore.inMemory(),
    tasks: [new Task({ name: "t", description: "Find {thing}", tools: [remember] })],
    ...more,
  };
}

async function run(
  more: Partial<EnsembleOptions> = {},
  runOptions: RunOptions = {},
  inputs = { thing: "bees" },
): Promise<EnsembleOutput> {
  await using ensemble = new Ensemble(options(more));
  return await ensemble.run(inputs, runOptions);
}

const mode = (
  name: string,
  changes: Partial<CaptureModeDefinition> = {},
): CaptureModeDefinition => ({
  name,
  capturesMessages: true,
  capturesMemory: true,
  parsesToolInput: true,
  ...changes,
});
const binding = (definition: CaptureModeDefinition) =>
  definePlugin({
    name: `mode-${definition.name}`,
    bind: (bind) => void bind.many(Tokens.CaptureMode).toConstantValue(definition),
  });

describe("capture modes", () => {
  let dir: string;
  let before: string;
  beforeEach(() => {
    before = process.cwd();
    dir = temporaryFolder();
    process.chdir(dir);
  });
  afterEach(() => process.chdir(before));

  describe("kept data", () => {
    it("NONE keeps names, times and costs, and no texts", async () => {
      const word = "zinnia";
      const look = tool({
        name: "look",
        description: `Looks for ${word}`,
        input: { type: "object" },
        execute: () => `found ${word}`,
      });
      const agent = new Agent({
        role: "Clerk",
        goal: `Find ${word}`,
        background: word,
        tools: [look],
      });
      const found = new Task({ name: "find", description: `Find {flower}, ${word}`, agent });
      const fail = (): string => {
        throw new Error(`no ${word}`);
      };
      const model = new ScriptedModel([
        { toolCalls: [{ name: "look", arguments: { [word]: word } }] },
        `It is ${word}`,
      ]);
      await using ensemble = new Ensemble({
        model,
        workflow: "SEQUENTIAL",
        tasks: [found, new Task({ name: "fail", description: word, handler: fail })],
      });
      const { trace } = await ensemble.run(
        { flower: word },
        { captureMode: "NONE", throwOnError: false, tags: { customer: word } },
      );
      expect(trace.toJson()).to.not.include(word);
      expect(trace.inputs).to.deep.equal({});
      const [first, second] = trace.taskTraces;
      expect(first).to.include({ taskId: "find", agentRole: "Clerk", outcome: "ok" });
      expect(
        first?.llmInteractions.map(({ modelId, responseType }) => [modelId, responseType]),
      ).to.deep.equal([
        ["scripted", "TOOL_CALLS"],
        ["scripted", "FINAL_ANSWER"],
      ]);
      expect(first?.llmInteractions[0]?.toolCalls[0]).to.include({
        toolName: "look",
        outcome: "SUCCESS",
        arguments: "",
        result: "",
      });
      expect(second).to.include({ taskId: "fail", outcome: "failed", taskDescription: "" });
      expect(trace.errors[0]).to.include({
        taskId: "fail",
        code: "AE_AGENT_EXECUTION",
        message: "",
      });
      expect(trace.metrics).to.include({ llmCallCount: 2, toolCallCount: 1 });
    });

    it("OFF keeps prompts, calls, tools and tokens, but no conversations, memory and values", async () => {
      const { trace } = await run();
      const [task] = trace.taskTraces;
      expect(trace.captureMode).to.equal("OFF");
      expect(task?.prompts?.userPrompt).to.include("Find bees");
      expect(task?.llmInteractions.map(({ messages }) => messages.length)).to.deep.equal([0, 0]);
      expect(
        task?.llmInteractions[0]?.toolCalls.map(({ arguments: text, parsedInput }) => [
          text,
          parsedInput,
        ]),
      ).to.deep.equal([
        ['{"input":"bees"}', undefined],
        ["{broken", undefined],
      ]);
      expect(task?.memory).to.deep.equal([]);
      expect(await readdir(dir)).to.deep.equal([]);
    });

    it("STANDARD keeps the conversation of every call with its answer, and the writes to memory", async () => {
      const { trace } = await run({ captureMode: "STANDARD" });
      const [task] = trace.taskTraces;
      const [first, second] = task?.llmInteractions ?? [];
      expect(first?.messages.map(({ role }) => role)).to.deep.equal([
        "system",
        "user",
        "assistant",
      ]);
      expect(first?.messages[2]).to.deep.equal({
        role: "assistant",
        content: "",
        toolCalls: [
          { name: "remember", arguments: '{"input":"bees"}' },
          { name: "remember", arguments: "{broken" },
        ],
        toolName: undefined,
      });
      expect(second?.messages.map(({ role, toolName }) => toolName ?? role)).to.deep.equal([
        "system",
        "user",
        "assistant",
        "remember",
        "remember",
        "assistant",
      ]);
      expect(second?.messages.at(-1)?.content).to.equal("The answer");
      expect(
        task?.memory.map(({ operation, scope, entries }) => [operation, scope, entries]),
      ).to.deep.equal([
        ["write", "notes", ["bees"]],
        ["write", "notes", ["{broken"]],
      ]);
      expect(first?.toolCalls[0]?.parsedInput).to.equal(undefined);
      expect(await readdir(dir)).to.deep.equal([]);
    });

    it("STANDARD keeps the entries read from scopes, the team's long-term memory and its facts", async () => {
      const memoryStore = MemoryStore.inMemory();
      await memoryStore.store("notes", { content: "bees dance", storedAt: new Date(0) });
      const entity = EntityMemory.inMemory();
      void entity.put("Ada", "keeps bees");
      const learnt: string[] = [];
      const longTerm = {
        store: async ({ content }: { readonly content: string }): Promise<void> =>
          void learnt.push(content),
        retrieve: async () => [{ content: "bees sleep", storedAt: new Date(0) }],
      };
      const task = new Task({ name: "t", description: "Tell of bees", memory: ["notes"] });
      await using ensemble = new Ensemble({
        model: new ScriptedModel(["They dance."]),
        memoryStore,
        memory: { longTerm, entity },
        tasks: [task],
      });
      const { trace } = await ensemble.run({}, { captureMode: "STANDARD" });
      const kept = trace.taskTraces[0]?.memory.map(({ operation, kind, scope, entries }) => [
        operation,
        kind,
        scope,
        entries,
      ]);
      expect(kept).to.have.deep.members([
        ["read", "scope", "notes", ["bees dance"]],
        ["read", "longTerm", undefined, ["bees sleep"]],
        ["read", "entity", undefined, ["Ada: keeps bees"]],
        ["write", "scope", "notes", ["They dance."]],
        ["write", "longTerm", undefined, ["They dance."]],
      ]);
      expect(learnt).to.deep.equal(["They dance."]);
    });

    it("FULL also keeps tool inputs as values, {} for other types, and writes ./traces/{runId}.trace.json", async () => {
      const { trace } = await run({ captureMode: "FULL" }, { runId: "run-1" });
      expect(
        trace.taskTraces[0]?.llmInteractions[0]?.toolCalls.map(({ parsedInput }) => parsedInput),
      ).to.deep.equal([{ input: "bees" }, {}]);
      expect(
        JSON.parse(await readFile(join(dir, "traces", "run-1.trace.json"), "utf8")),
      ).to.include({
        ensembleId: "run-1",
        captureMode: "FULL",
      });
    });

    it("FULL writes no file if an exporter is configured, by the ensemble, the kernel or the run", async () => {
      const exported: string[] = [];
      const exporter = ({ ensembleId }: { readonly ensembleId: string }): void =>
        void exported.push(ensembleId);
      const bound = definePlugin({
        name: "exporter",
        bind: (bind) => void bind.many(Tokens.TraceExporter).toConstantValue(exporter),
      });
      await run({ captureMode: "FULL", traceExporter: exporter }, { runId: "a" });
      await run({ captureMode: "FULL", plugins: [bound] }, { runId: "b" });
      await run(
        { captureMode: "FULL" },
        {
          runId: "c",
          bindings: (bind) => void bind.many(Tokens.TraceExporter).toConstantValue(exporter),
        },
      );
      expect(exported).to.deep.equal(["a", "b", "c"]);
      expect(await readdir(dir)).to.deep.equal([]);
    });

    it("a file that can't be written causes one warning, and does not affect the run", async () => {
      await writeFile(join(dir, "traces"), "a file where the folder should be");
      const { trace, raw, isComplete } = await run({ captureMode: "FULL" });
      expect([raw, isComplete]).to.deep.equal(["The answer", true]);
      expect(trace.metadata["warnings"]).to.have.length(1);
      expect(String(trace.metadata["warnings"])).to.include("Cannot write the trace to");
    });

    it("warns that nothing can write the files without the plugin", async () => {
      const kernel = new Kernel();
      for (const plugin of standardPlugins())
        if (plugin.name !== "observability-capture") kernel.use(plugin);
      kernel.use(binding(mode("MINE", { exportsTo: "out" })));
      await kernel.boot();
      const { trace } = await run({ captureMode: "MINE", kernel });
      expect(String(trace.metadata["warnings"])).to.include("Tokens.FolderExporter");
      await kernel.dispose();
    });
  });

  describe("the effective mode", () => {
    const modeOf = async (
      ensemble: string | undefined,
      ofRun: string | undefined,
      bound?: string,
    ): Promise<string> => {
      const plugins =
        bound === undefined
          ? []
          : [
              definePlugin({
                name: "d",
                bind: (bind) => void bind.single(Tokens.DefaultCaptureMode).toConstantValue(bound),
              }),
            ];
      return (
        await run(
          { captureMode: ensemble, plugins, traceExporter: () => undefined },
          { captureMode: ofRun },
        )
      ).trace.captureMode;
    };

    it("is the first of those of the run, the ensemble, the container, the environment, and OFF", async () => {
      setEnvironment({ AGENTENSEMBLE_CAPTURE_MODE: "standard" });
      expect(await modeOf("OFF", "FULL", "STANDARD")).to.equal("FULL");
      expect(await modeOf("OFF", undefined, "FULL")).to.equal("OFF");
      expect(await modeOf(undefined, undefined, "FULL")).to.equal("FULL");
      expect(await modeOf(undefined, undefined)).to.equal("STANDARD");
      setEnvironment({ AGENTENSEMBLE_CAPTURE_MODE: " " });
      expect(await modeOf(undefined, undefined)).to.equal("OFF");
    });

    it("an unknown one in the environment causes a warning, elsewhere an error that lists the known modes", async () => {
      setEnvironment({ AGENTENSEMBLE_CAPTURE_MODE: "everything" });
      const { trace } = await run();
      expect([trace.captureMode, String(trace.metadata["warnings"])]).to.satisfy(
        ([name, warning]: string[]) => name === "OFF" && warning?.includes("everything"),
      );
      const error = await rejectionOf(ValidationError, run({ captureMode: "STANDART" }));
      expect(error.message).to.include("STANDARD").and.include("FULL");
    });
  });

  describe("an invalid bound value", () => {
    it("an invalid default causes an error that names the token and the value", async () => {
      for (const value of ["STANDART", 3, null, {}]) {
        const bound = definePlugin({
          name: "d",
          bind: (bind) =>
            void bind.single(Tokens.DefaultCaptureMode).toConstantValue(value as never),
        });
        const { message } = await rejectionOf(ValidationError, run({ plugins: [bound] }));
        expect(message)
          .to.include("Tokens.DefaultCaptureMode")
          .and.include(typeof value === "string" ? value : JSON.stringify(value));
      }
    });

    it("an invalid mode causes an error that names the field, before any cost arises", async () => {
      const cases: readonly (readonly [unknown, string])[] = [
        [null, "Tokens.CaptureMode must have a name"],
        [{}, "Tokens.CaptureMode must have a name"],
        [mode("X", { capturesMessages: "yes" as never }), "Capture mode 'X' capturesMessages"],
        [mode("X", { redact: 5 as never }), "Capture mode 'X' redact"],
        [mode("X", { exportsTo: 5 as never }), "Capture mode 'X' exportsTo"],
      ];
      for (const [value, expected] of cases) {
        const model = new ScriptedModel(() => "x");
        const plugins = [
          definePlugin({
            name: "m",
            bind: (bind) => void bind.many(Tokens.CaptureMode).toConstantValue(value as never),
          }),
        ];
        const { message } = await rejectionOf(
          ValidationError,
          run({ model, captureMode: "X", plugins }),
        );
        expect(message).to.include(expected);
        expect(model.requests).to.deep.equal([]);
      }
    });

    it("an invalid writer of files causes a warning, and does not affect the run", async () => {
      const broken = (): never => {
        throw new Error("no such disk");
      };
      const plugins = [
        definePlugin({
          name: "f",
          bind: (bind) => void bind.single(Tokens.FolderExporter).toConstantValue(broken),
        }),
      ];
      const { raw, trace } = await run({ captureMode: "FULL", plugins });
      expect([raw, String(trace.metadata["warnings"])]).to.deep.equal([
        "The answer",
        "A trace exporter failed: no such disk",
      ]);
    });

    it("invalid prices cause an error that names the token", async () => {
      const bind = (prices: unknown) =>
        definePlugin({
          name: "p",
          bind: (b) => void b.single(Tokens.CostConfiguration).toConstantValue(prices as never),
        });
      for (const prices of [
        null,
        5,
        { inputTokenRate: "1", outputTokenRate: 1 },
        { inputTokenRate: 1 },
      ]) {
        const { message } = await rejectionOf(ValidationError, run({ plugins: [bind(prices)] }));
        expect(message).to.include("Tokens.CostConfiguration");
      }
    });
  });

  describe("a custom mode", () => {
    it("is chosen by name, keeps the declared data, and writes to the declared folder", async () => {
      const plugins = [binding(mode("AUDIT", { capturesMessages: false, exportsTo: "audit" }))];
      const { trace } = await run({ captureMode: "AUDIT", plugins }, { runId: "r" });
      expect(trace.taskTraces[0]?.llmInteractions[0]).to.deep.include({ messages: [] });
      expect(trace.taskTraces[0]?.llmInteractions[0]?.toolCalls[0]?.parsedInput).to.deep.equal({
        input: "bees",
      });
      expect(await readdir(join(dir, "audit"))).to.deep.equal(["r.trace.json"]);
    });

    it("redacts every text and value of the trace", async () => {
      const hide = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value ?? null).replaceAll("bees", "***"));
      const { trace } = await run({
        captureMode: "HIDING",
        plugins: [binding(mode("HIDING", { redact: hide }))],
      });
      expect(trace.toJson()).to.include("***").and.not.include("bees");
      expect(trace.inputs).to.deep.equal({ thing: "***" });
    });

    it("withholds a value if its redact fails", async () => {
      const redact = (): never => {
        throw new Error("bees");
      };
      const { trace } = await run({
        captureMode: "BROKEN",
        plugins: [binding(mode("BROKEN", { redact }))],
      });
      expect(trace.toJson())
        .to.include("[redacted: the redact function of the capture mode failed]")
        .and.not.include("bees");
    });
  });

  describe("secrets", () => {
    it("are not in a trace: known keys, texts in the form of keys, fields named like secrets, secrets of the user", async () => {
      setEnvironment({ ACME_API_KEY: "acme-9f8e7d6c5b" });
      const model = Object.assign(
        new ScriptedModel([new Error(`refused ${KEY} model-secret`), "x"]),
        {
          redact: (text: string) => text.replaceAll("model-secret", "[mine]"),
        },
      );
      const task = new Task({
        name: "t",
        description: "Use {thing} with acme-9f8e7d6c5b and model-secret for Ada Lovelace",
      });
      const filter = (text: string): string => text.replaceAll("Ada Lovelace", "[name]");
      const plugins = [
        definePlugin({
          name: "names",
          bind: (bind) => void bind.many(Tokens.SecretFilter).toConstantValue(filter),
        }),
      ];
      const { trace } = await run(
        { captureMode: "STANDARD", model, tasks: [task], plugins },
        { throwOnError: false, tags: { apiKey: "tiny" } },
        { thing: KEY },
      );
      const json = trace.toJson();
      for (const secret of [KEY, "acme-9f8e7d6c5b", "model-secret", "Ada Lovelace", "tiny"])
        expect(json).not.to.include(secret);
      expect(trace.taskTraces[0]?.taskDescription).to.equal(
        "Use [redacted] with [redacted] and [mine] for [name]",
      );
      expect(trace.errors.length).to.be.above(0);
    });

    it("are removed from the texts that name a loop's tasks", async () => {
      const loops = [new Loop({ name: "l", tasks: [Task.of(`Use ${KEY}`)], maxIterations: 1 })];
      await using ensemble = new Ensemble({ model: new ScriptedModel(["done"]), loops });
      const { trace } = await ensemble.run();
      expect(trace.loopTraces[0]?.iterations).to.deep.equal([["Use [redacted]"]]);
      expect(trace.toJson()).not.to.include(KEY);
    });

    it("in results of tools are withheld by the names of their fields", async () => {
      const { trace } = await run({ captureMode: "FULL", traceExporter: () => undefined });
      expect(trace.taskTraces[0]?.llmInteractions[0]?.toolCalls[0]?.structuredOutput).to.deep.equal(
        { kept: "bees", password: "[redacted]" },
      );
      expect(trace.toJson()).not.to.include("hunter2");
    });
  });

  it("exported files of many concurrent runs are each complete", async () => {
    await mkdir(join(dir, "traces"));
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => run({ captureMode: "FULL" }, { runId: `run/${i}` })),
    );
    const files = await readdir(join(dir, "traces"));
    expect(files).to.have.length(20);
    for (const file of files) JSON.parse(await readFile(join(dir, "traces", file), "utf8"));
  });
});
