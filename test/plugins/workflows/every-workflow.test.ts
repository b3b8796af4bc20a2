import type {
  AnyTask,
  ChatModel,
  EnsembleEvent,
  EnsembleOptions,
  EnsembleOutput,
  RunOptions,
} from "agentensemble";
import {
  Agent,
  Ensemble,
  GuardrailResult,
  GuardrailViolationError,
  MapReduceEnsemble,
  MemoryStore,
  Task,
  Tokens,
  definePlugin,
  reject,
  replace,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { untilAborted } from "../../support/kernel-fixtures.js";
import { SHAPES } from "./shapes.js";

type Runnable = Pick<Ensemble, "run" | "dispose">;

/** A way to execute one task, with any other tasks. */
interface Row {
  readonly name: string;
  readonly make: (task: AnyTask, options: EnsembleOptions) => Runnable;
}

const usage = { inputTokens: 10, outputTokens: 5 };
const worker = new Agent({ role: "Worker", goal: "Do it" });
const done = (context: readonly AnyTask[]): Task =>
  new Task({
    description: "Join",
    context,
    handler: ({ contextOutputs }) => contextOutputs[0]?.raw ?? "",
  });

function underManager(task: AnyTask, options: EnsembleOptions): Ensemble {
  const managerModel = new ScriptedModel([
    {
      toolCalls: [
        {
          name: "delegateTask",
          arguments: { agentRole: "worker", taskDescription: "Do it", taskNumber: 1 },
        },
      ],
      usage,
    },
    { text: "managed", usage },
  ]);
  return new Ensemble({ workflow: "HIERARCHICAL", tasks: [task], managerModel, ...options });
}

const ROWS: readonly Row[] = [
  ...SHAPES.map(({ name, options: shape }): Row => ({
    name,
    make: (task, options) => new Ensemble({ ...shape([task]), ...options }),
  })),
  { name: "HIERARCHICAL", make: underManager },
  {
    name: "MAP_REDUCE",
    make: (task, options) =>
      new MapReduceEnsemble({ items: [1], mapTask: () => task, reduceTask: done, ...options }),
  },
  {
    name: "MAP_REDUCE_ADAPTIVE",
    make: (task, options) =>
      new MapReduceEnsemble({
        items: [1],
        mapTask: () => task,
        reduceTask: done,
        targetTokenBudget: 1_000,
        ...options,
      }),
  },
];

interface Seen {
  readonly output: EnsembleOutput;
  readonly task: AnyTask;
  /** Those of the task itself. */
  readonly events: readonly EnsembleEvent[];
  readonly all: readonly EnsembleEvent[];
}

async function see(
  { make }: Row,
  model: ChatModel,
  task: AnyTask,
  options: EnsembleOptions = {},
  runOptions: RunOptions = {},
): Promise<Seen> {
  const all: EnsembleEvent[] = [];
  const ensemble = make(task, { model, ...options, on: (event) => void all.push(event) });
  const output = await ensemble.run({}, { ...runOptions, throwOnError: false });
  await ensemble.dispose();
  const id = all.find(
    (event) => event.type === "task_started" && event.taskDescription === task.description,
  ) as { readonly taskId: string } | undefined;
  return {
    output,
    task,
    all,
    events: all.filter((event) => (event as { readonly taskId?: string }).taskId === id?.taskId),
  };
}

const subject = (
  options: Omit<ConstructorParameters<typeof Task<string>>[0], "description" | "outputType"> = {},
): Task => new Task({ description: "Subject", agent: worker, ...options });
const endsOf = ({ events }: Seen): readonly string[] =>
  events.map(({ type }) => type).filter((type) => /^task_(started|completed|failed)$/.test(type));

for (const row of ROWS) {
  describe(`in the workflow ${row.name}, a task`, () => {
    it("is refused by its input guardrail before its model is called", async () => {
      const model = new ScriptedModel([]);
      const seen = await see(
        row,
        model,
        subject({ inputGuardrails: [() => GuardrailResult.failure("not today")] }),
      );
      const failed = seen.events.find((event) => event.type === "task_failed");
      expect(
        failed?.type === "task_failed" &&
          GuardrailViolationError.find(failed.cause)?.violationMessage,
      ).to.equal("not today");
      expect(model.requests).to.have.length(0);
    });

    it("is repeated when its output guardrail refuses it", async () => {
      const guard = ({ raw }: { readonly raw: string }): GuardrailResult =>
        raw === "short" ? GuardrailResult.success() : GuardrailResult.failure("be brief");
      const seen = await see(
        row,
        new ScriptedModel(["far too long", "short"]),
        subject({ guardrailRetries: 1, outputGuardrails: [guard] }),
      );
      expect(seen.output.getOutput(seen.task)?.raw).to.equal("short");
      expect(endsOf(seen)).to.deep.equal(["task_started", "task_completed"]);
    });

    it("has its value read by its schema, including corrections and usage", async () => {
      const model = new ScriptedModel([
        { text: "no JSON", usage },
        { text: '{"n": 4}', usage },
      ]);
      const task = new Task({
        description: "Subject",
        agent: worker,
        outputType: z.object({ n: z.number() }),
      });
      const { output } = await see(row, model, task);
      expect(output.getOutput(task)?.parsed).to.deep.equal({ n: 4 });
      expect(output.getOutput(task)?.metrics).to.include({
        llmCallCount: 2,
        inputTokens: 20,
        outputTokens: 10,
      });
      expect(output.metrics.inputTokens).to.equal(output.metrics.llmCallCount * 10);
    });

    it("is reviewed after it, and the result of the review counts", async () => {
      const review = definePlugin({
        name: "review",
        apply: ({ hooks }) =>
          hooks.afterTask.tap({ name: "edit", lane: "review" }, ({ task, outcome }) =>
            task.description === "Subject" && outcome === "ok"
              ? replace({ raw: "edited" })
              : undefined,
          ),
      });
      const seen = await see(row, new ScriptedModel(["draft"]), subject(), { plugins: [review] });
      expect(seen.output.getOutput(seen.task)?.raw).to.equal("edited");
    });

    it("writes memory through the hooks, which may refuse it", async () => {
      const stored: string[] = [];
      const store: MemoryStore = {
        store: async (scope, { content }) => void stored.push(`${scope}: ${content}`),
        retrieve: async () => [],
        evict: async () => undefined,
        clear: async () => undefined,
      };
      const memory = definePlugin({
        name: "memory",
        bind: (bind) => void bind.single(Tokens.MemoryStore).toConstantValue(store),
        apply: ({ hooks }) =>
          hooks.beforeMemoryWrite.tap({ name: "judge" }, ({ entry }) =>
            entry.content === "a secret" ? reject("no secrets") : undefined,
          ),
      });
      const remember = tool({
        name: "remember",
        description: "Keeps a fact",
        execute: (content, { scope }) =>
          scope.writeMemory("facts", { content, storedAt: new Date(0) }).then(() => "kept"),
      });
      const calls = ["a secret", "water is wet"].map((input) => ({
        name: "remember",
        arguments: { input },
      }));
      const task = subject({ agent: worker.with({ tools: [remember] }) });
      await see(row, new ScriptedModel([{ toolCalls: calls }, "done"]), task, {
        plugins: [memory],
      });
      expect(stored).to.deep.equal(["facts: water is wet"]);
    });

    it("receives the entries of its memory, and is written to it once", async () => {
      const store = MemoryStore.inMemory();
      await store.store("facts", { content: "known before", storedAt: new Date(0) });
      const model = new ScriptedModel(["learnt"]);
      const { output } = await see(row, model, subject({ memory: "facts" }), {
        memoryStore: store,
        memory: { shortTerm: true },
      });
      expect(JSON.stringify(model.requests)).to.include("known before");
      expect((await store.retrieve("facts", "", 9)).map(({ content }) => content)).to.deep.equal([
        "known before",
        "learnt",
      ]);
      expect(output.metrics.memoryOperations).to.include({ scopeReads: 1, scopeWrites: 1 });
    });

    it("has one start and one end, between those of the run", async () => {
      const seen = await see(row, new ScriptedModel(["done"]), subject());
      expect(endsOf(seen)).to.deep.equal(["task_started", "task_completed"]);
      expect(seen.all.map(({ seq }) => seq)).to.deep.equal(seen.all.map((_, i) => i));
      expect([seen.all[0]?.type, seen.all.at(-1)?.type]).to.deep.equal([
        "ensemble_started",
        "ensemble_completed",
      ]);
      expect(seen.output.exitReason).to.equal("COMPLETED");
    });

    it("is aborted at the time limit, and fails with the run", async () => {
      const slow: ChatModel = {
        provider: "test",
        modelId: "slow",
        chat: (_request, options) => untilAborted(options?.signal ?? AbortSignal.abort()),
      };
      const seen = await see(row, slow, subject(), {}, { timeoutMs: 20 });
      expect(endsOf(seen)).to.deep.equal(["task_started", "task_failed"]);
      expect(seen.output.exitReason).to.equal("TIMEOUT");
      expect(seen.output.metrics.llmCallCount).to.be.greaterThan(0);
    });
  });
}
