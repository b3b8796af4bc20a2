import type { EnsembleOptions, Tool } from "agentensemble";
import {
  Agent,
  MemoryScope,
  MemoryStore,
  ReflectionStore,
  ReviewDecision,
  Task,
  tool,
} from "agentensemble";
import { memoryTool } from "agentensemble/memory";
import { recordTo, replayFrom } from "agentensemble/replay";
import { cache, retry } from "agentensemble/resilience";
import { humanInputTool } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../../support/project.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { pause } from "../../support/time.js";
import { deadModel, play } from "./record-and-replay.js";
import { version1Team } from "./version-1-team.js";

const worker = (role: string, tools: readonly Tool[] = []): Agent =>
  new Agent({ role, goal: "Work", tools });

/** A guardrail that accepts everything after a delay. */
const passed = async (wait: Promise<void>): Promise<true> => {
  await wait;
  return true;
};

/**
 * Runs with real waits. `waits` returns the duration of each, which differs between the recording
 * and its replay.
 */
interface SetUp {
  readonly options: (waits: (name: string) => Promise<void>, folder: string) => EnsembleOptions;
}

const assign = (agentRole: string, taskNumber: number) => ({
  name: "delegateTask",
  arguments: { agentRole, taskDescription: "Do it", taskNumber },
});

const SET_UPS: Readonly<Record<string, SetUp>> = {
  "a manager that delegates twice in one turn, and a guardrail that waits": {
    options: (waits) => ({
      model: new ScriptedModel((request, index) =>
        index === 0
          ? { toolCalls: [assign("A", 1), assign("B", 2)] }
          : JSON.stringify(request.messages).includes("You are A")
            ? "a"
            : "b",
      ),
      workflow: "HIERARCHICAL",
      tasks: ["A", "B"].map(
        (role) =>
          new Task({
            description: `Part ${role}`,
            agent: worker(role),
            outputGuardrails: [() => passed(waits(role))],
          }),
      ),
    }),
  },
  "concurrent tasks that read entries of others from files": {
    options: (waits, folder) => ({
      model: new ScriptedModel((request) => JSON.stringify(request.messages).slice(-300)),
      memoryStore: MemoryStore.file(join(folder, "memory")),
      workflow: "PARALLEL",
      tasks: ["one", "two", "three"].map(
        (name) =>
          new Task({
            name,
            description: `Write ${name}`,
            agent: worker(name),
            memory: [MemoryScope.of("shared")],
            inputGuardrails: [() => passed(waits(name))],
          }),
      ),
    }),
  },
  "handlers that wait next to an agent with short-term memory": {
    options: (waits) => ({
      model: new ScriptedModel((request) => JSON.stringify(request.messages).slice(-300)),
      memory: { shortTerm: true },
      workflow: "PARALLEL",
      tasks: [
        ...["slow", "fast"].map(
          (name) => new Task({ name, description: name, handler: async () => (await waits(name), name) }), // prettier-ignore
        ),
        ...["first", "second"].map(
          (name) =>
            new Task({
              name,
              description: `Ask ${name}`,
              agent: worker(name),
              inputGuardrails: [() => passed(waits(name))],
            }),
        ),
      ],
    }),
  },
  "slow reviewers": {
    options: (waits) => ({
      model: new ScriptedModel((request) => JSON.stringify(request.messages).slice(-200)),
      memory: { shortTerm: true },
      workflow: "PARALLEL",
      reviewPolicy: "AFTER_EVERY_TASK",
      reviewHandler: async ({ taskId, taskOutput }) => {
        await waits(taskId);
        return ReviewDecision.edit(`${taskOutput} (seen)`);
      },
      tasks: ["x", "y"].map((name) => new Task({ name, description: name, agent: worker(name) })),
    }),
  },
  "concurrent tools, and lessons of earlier runs": {
    options: (waits) => ({
      model: new ScriptedModel((request, index) =>
        index === 0
          ? { toolCalls: ["p", "q"].map((n) => ({ name: "look", arguments: { input: n } })) }
          : JSON.stringify(request.messages).slice(-200),
      ),
      reflectionStore: ReflectionStore.inMemory(),
      tasks: [
        new Task({
          name: "t",
          description: "Look",
          agent: worker("Looker", [
            tool({ name: "look", description: "Looks", execute: async (what) => (await waits(what), `saw ${what}`) }), // prettier-ignore
          ]),
          reflect: true,
        }),
      ],
    }),
  },
};

describe("the order of steps in a replay", () => {
  for (const [name, { options }] of Object.entries(SET_UPS))
    it(`equals the recorded order for any durations of real work: ${name}`, async () => {
      const folder = temporaryFolder();
      const file = join(folder, "run.jsonl");
      const waits = (order: (place: number) => number) => {
        let place = 0;
        return (): Promise<void> => pause(order(place++) % 25);
      };
      const live = options(
        waits((n) => n * 7),
        join(folder, "live"),
      );
      const recorded = await play({ ...live, captureMode: "STANDARD" }, [recordTo(file)]);
      expect(recorded.error).to.equal(undefined);
      for (const longest of [24, 3]) {
        const again = options(
          waits((n) => longest - n * 5 + 100),
          join(folder, `again-${longest}`),
        );
        const model = deadModel(again.model as ScriptedModel);
        const { output, error } = await play({ ...again, model, captureMode: "STANDARD" }, [
          replayFrom(file, { onUnused: "fail" }),
        ]);
        expect(error?.message).to.equal(undefined);
        const prompts = (o: typeof output): unknown =>
          o.trace.taskTraces.map(({ taskId, llmInteractions }) => [
            taskId,
            llmInteractions.map(({ messages }) => messages),
          ]);
        expect(prompts(output)).to.deep.equal(prompts(recorded.output));
        expect(output.raw).to.equal(recorded.output.raw);
        expect(output.metrics.ledger.map(({ taskId }) => taskId)).to.deep.equal(
          recorded.output.metrics.ledger.map(({ taskId }) => taskId),
        );
        expect(model.calls).to.equal(0);
      }
    });

  it("returns to each of several equal calls in one turn its own result", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const dice = tool({
      name: "dice",
      description: "Throws a die",
      execute: async (_, { toolCallId }) => {
        await pause(toolCallId.endsWith("1") ? 20 : 1); // ends last
        return `result of ${toolCallId}`;
      },
    });
    const team = (): EnsembleOptions => ({
      model: new ScriptedModel((request, index) =>
        index === 0
          ? { toolCalls: Array.from({ length: 3 }, () => ({ name: "dice", arguments: {} })) }
          : JSON.stringify(request.messages.map(({ content }) => content)),
      ),
      tasks: [new Task({ description: "Play", agent: worker("Player", [dice]) })],
    });
    const recorded = await play(team(), [recordTo(file)]);
    expect(recorded.output.raw).to.include(
      '"result of call_1","result of call_2","result of call_3"',
    );
    const { output, error } = await play(team(), [replayFrom(file, { onUnused: "fail" })]);
    expect(error?.message).to.equal(undefined);
    expect(output.raw).to.equal(recorded.output.raw);
  });

  it("omits the steps that a tool took, because the recording answers its call", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    let calls = 0;
    const secretary = tool({
      name: "secretary",
      description: "Asks a colleague and a person, and notes the answer",
      execute: async (text, ctx) => {
        calls++;
        const { rawOutput = "" } = await ctx.scope.delegate({ taskId: `sub-${calls}`, agentRole: "Expert", taskDescription: text, scope: {}, priority: "NORMAL", maxOutputRetries: 0, metadata: {} }); // prettier-ignore
        await ctx.scope.writeMemory("notes", { content: rawOutput, storedAt: new Date(0) });
        const { type } = await ctx.requestApproval({ description: text });
        return `${rawOutput} ${type}`;
      },
    });
    const team = (): EnsembleOptions => {
      const memoryStore = MemoryStore.inMemory();
      const lead = new Agent({
        role: "Lead",
        goal: "Lead",
        allowDelegation: true,
        tools: [secretary, humanInputTool(), memoryTool("notes", memoryStore)],
      });
      const turn = [
        { name: "secretary", arguments: { input: "one" } },
        { name: "retrieveMemory", arguments: { query: "one" } },
        { name: "delegate", arguments: { agentRole: "Expert", taskDescription: "Think" } },
        { name: "human_input", arguments: { question: "Which?" } },
        { name: "secretary", arguments: { input: "two" } },
      ];
      const model = new ScriptedModel(({ messages, tools }) =>
        tools === undefined
          ? { text: `expert: ${JSON.stringify(messages).length}`, delayMs: 5 }
          : messages.some(({ role }) => role === "tool")
            ? JSON.stringify(messages)
            : { toolCalls: turn },
      );
      return {
        model,
        memoryStore,
        agents: [worker("Expert")],
        reviewHandler: () => ReviewDecision.edit("this one"),
        tasks: [new Task({ description: "Lead", agent: lead })],
      };
    };
    const recorded = await play(team(), [recordTo(file)]);
    expect(recorded.error?.message).to.equal(undefined);
    expect(recorded.output.raw).to.include("expert: ").and.include("EDIT").and.include("this one");
    const { output, error } = await play(team(), [replayFrom(file, { onUnused: "fail" })]);
    expect(error?.message).to.equal(undefined);
    expect(output.raw).to.equal(recorded.output.raw);
    expect(calls).to.equal(2);
  });

  it("names a step that never occurs, while a delegation is in progress", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const lead = new Agent({ role: "A", goal: "Lead", allowDelegation: true });
    const wait = new Task({
      name: "wait",
      description: "Wait",
      handler: async () => (await pause(20), "waited"),
    });
    const gone = new Task({
      name: "gone",
      description: "Go",
      context: [wait],
      handler: () => "gone",
    });
    const assigned = { name: "delegate", arguments: { agentRole: "B", taskDescription: "b" } };
    const team = (isAsked: boolean): EnsembleOptions => ({
      model: new ScriptedModel(({ messages, tools }) =>
        tools === undefined
          ? { text: "slow", delayMs: 60 } // ends after the step `gone`
          : messages.some(({ role }) => role === "tool")
            ? "done"
            : { toolCalls: [assigned] },
      ),
      agents: [worker("B")],
      workflow: "PARALLEL",
      tasks: [new Task({ description: "Lead", agent: lead }), wait, ...(isAsked ? [gone] : [])],
    });
    await play(team(true), [recordTo(file)]);
    const { error } = await play(team(false), [replayFrom(file)]);
    expect(error?.message).to.include("task 'gone@1'").and.include("did not start");
  });

  it("names a step that never occurs, if other steps wait for it", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const team = (names: readonly string[]): EnsembleOptions => ({
      model: new ScriptedModel(["x", "x", "x"]),
      workflow: "PARALLEL",
      tasks: names.map((name) => new Task({ name, description: name, agent: worker(name) })),
    });
    await play(team(["gone", "here", "there"]), [recordTo(file)]);
    const { error } = await play(team(["here", "there"]), [replayFrom(file)]);
    expect(error?.code).to.equal("AE_RECORDING_MISMATCH");
    expect(error?.message).to.include("task 'gone@1'").and.include("did not start");
  });
});

describe("a recording of the first version", () => {
  it("can be replayed", async () => {
    const file = join(projectRoot, "test/fixtures/recordings/version-1.jsonl");
    expect(await readFile(file, "utf8")).to.include('"version":1}');
    const model = deadModel(new ScriptedModel([]));
    const { output, error } = await play(version1Team(model), [replayFrom(file), retry()]);
    expect(error).to.equal(undefined);
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal([
      '41 and one is {"sum":42}',
      "A, B",
      "better",
    ]);
    expect(output.metrics.totalTokens).to.equal(48);
  });
});

describe("the outputs of a replay", () => {
  const prices = { costConfiguration: { inputTokenRate: 1, outputTokenRate: 2 } };
  const usage = { inputTokens: 10, outputTokens: 5 };
  const team = (): EnsembleOptions => ({
    model: new ScriptedModel([{ text: "said", usage }]),
    tasks: [new Task({ description: "Say", agent: worker("Speaker"), memory: [MemoryScope.of("s")], reflect: true })], // prettier-ignore
    ...prices,
  });

  it("include no write: neither to memory, nor to reflections, nor to a cache", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const model = (): ScriptedModel =>
      new ScriptedModel(
        [{ text: "said", usage }, "## Refined description\nx\n## Observations\n- y"],
        { onExhausted: "repeat-last" },
      );
    const stores = () => {
      const changes: string[] = [];
      const memoryStore = MemoryStore.inMemory();
      const reflections = ReflectionStore.inMemory();
      return {
        changes,
        options: {
          memoryStore,
          reflectionStore: {
            store: (...args: Parameters<typeof reflections.store>) => {
              changes.push("lesson");
              return reflections.store(...args);
            },
            retrieve: (id: string) => reflections.retrieve(id),
          },
          plugins: [
            cache({
              store: { get: () => undefined, set: () => void changes.push("cache") },
            }),
          ],
        },
        memoryStore,
      };
    };
    const live = stores();
    await play({ ...team(), model: model(), ...live.options }, [recordTo(file)]);
    expect(live.changes).to.include("cache");
    expect(await live.memoryStore.retrieve("s", "", 5)).to.have.length(1);
    const again = stores();
    const { error } = await play({ ...team(), ...again.options }, [replayFrom(file)]);
    expect(error).to.equal(undefined);
    expect(again.changes).to.deep.equal([]);
    expect(await again.memoryStore.retrieve("s", "", 5)).to.have.length(0);
  });

  it("include no cost: the calls count as answered, and their original cost is shown separately", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const options = { ...team(), tasks: [new Task({ description: "Say", agent: worker("Speaker") })] }; // prettier-ignore
    const recorded = await play(options, [recordTo(file)]);
    expect(recorded.output.metrics.costEstimate?.totalCost).to.equal(20);
    expect(recorded.output.metrics).to.not.have.property("recordedCost");
    const { output } = await play(options, [replayFrom(file)]);
    expect(output.metrics).to.not.have.property("costEstimate");
    expect(output.metrics.recordedCost?.totalCost).to.equal(20);
    expect(output.taskOutputs[0]?.metrics.recordedCost?.totalCost).to.equal(20);
    expect(output.metrics.totalTokens).to.equal(15);
    expect(output.metrics.ledger.map(({ outcome }) => outcome)).to.deep.equal(["answered"]);
  });

  it("include the trace, unless it must not be exported", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const exported: string[] = [];
    const options = { ...team(), traceExporter: () => void exported.push("trace") };
    await play(options, [recordTo(file)]);
    await play(options, [replayFrom(file)]);
    expect(exported).to.have.length(2);
    await play(options, [replayFrom(file, { exporters: false })]);
    expect(exported).to.have.length(2);
  });
});
