import type { EnsembleOptions, LongTermMemory, MemoryStore, EntityMemory } from "agentensemble";
import {
  ExitEarlySignal,
  MemoryScope,
  MemoryStoreError,
  RunCancelledError,
  Task,
  TaskExecutionError,
  TaskTimeoutError,
  definePlugin,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, type Ended } from "../../../support/kernel-fixtures.js";
import { MapStore } from "../map-store.js";
import { userPrompts, writing } from "../prompts.js";

const never = (): Promise<void> => new Promise(() => undefined);
const texts = (): ScriptedModel => new ScriptedModel(["first", "second", "third"]);

function brokenAt(broken: keyof MemoryStore, scope?: string): MapStore {
  const store = new MapStore();
  store.before = (operation, name) => {
    if (operation === broken && (scope === undefined || scope === name))
      throw new Error("disk full");
  };
  return store;
}

function run(memoryStore: MemoryStore, options: Partial<EnsembleOptions> = {}): Promise<Ended> {
  const scopes = [MemoryScope.of("a").keepLastEntries(3), "b"];
  return runToEnd({
    tasks: [writing("One", { memory: scopes }), writing("Two")],
    model: texts(),
    memoryStore,
    ...options,
  });
}

const warningsOf = ({ events }: Ended): readonly string[] =>
  events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []));
const finished = ({ output }: Ended): readonly string[] =>
  output.completedTasks.map(({ raw }) => raw);

describe("a memory that fails", () => {
  it("fails the task before any cost arises if the memory is read", async () => {
    const model = texts();
    const ended = await run(brokenAt("retrieve", "b"), { model });
    expect(TaskExecutionError.isInstance(ended.error)).to.equal(true);
    const cause = MemoryStoreError.find(ended.error);
    expect(cause).to.include({ code: "AE_MEMORY_STORE", operation: "retrieve", scope: "b" });
    expect(cause?.message).to.include("disk full");
    expect(model.requests).to.have.length(0);
  });

  for (const operation of ["store", "evict"] as const) {
    it(`fails the task at ${operation}, and keeps its paid output`, async () => {
      const store = brokenAt(operation, "a");
      const ended = await run(store);
      const error = TaskExecutionError.find(ended.error);
      expect(MemoryStoreError.find(error)).to.include({ operation, scope: "a" });
      expect(error?.completedTaskOutputs.map(({ raw }) => raw)).to.deep.equal(["first"]);
      expect(finished(ended)).to.deep.equal(["first"]);
      expect(ended.output.raw).to.equal("first");
      expect(ended.output.trace.taskTraces[0]?.finalOutput).to.equal("first");
      expect(store.contents("b"), "other scopes are written nevertheless").to.deep.equal(["first"]);
      expect(ended.events.filter(({ type }) => type === "task_failed")).to.have.length(1);
    });

    it(`is a warning at ${operation} with memoryErrors: "warn"`, async () => {
      const ended = await run(brokenAt(operation, "a"), { memoryErrors: "warn" });
      expect(ended.error).to.equal(undefined);
      expect(finished(ended)).to.deep.equal(["first", "second"]);
      expect(warningsOf(ended)).to.have.length(1);
      expect(warningsOf(ended)[0]).to.include("disk full").and.include("'One'").and.include("'a'");
    });
  }

  it("also keeps the output if other tasks continue", async () => {
    const tasks = [
      writing("One", { memory: "a" }),
      new Task({ description: "Two", handler: () => "two" }),
    ];
    const ended = await run(brokenAt("store"), {
      tasks,
      workflow: "PARALLEL",
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
    });
    expect(ended.error).to.have.property("code", "AE_PARALLEL_EXECUTION");
    expect(finished(ended)).to.deep.equal(["first", "two"]);
  });

  it('is a warning at a read with memoryErrors: "warn", and the other entries are used', async () => {
    const store = brokenAt("retrieve", "a").fill("b", "known");
    const model = texts();
    const ended = await run(store, { memoryErrors: "warn", model });
    expect(ended.error).to.equal(undefined);
    expect(userPrompts(model.requests)[0]).to.include("known").and.not.include("## Memory: a");
    expect(warningsOf(ended)).to.have.length(1);
  });

  it("fails with the first of several errors and warns of the others", async () => {
    const ended = await run(brokenAt("store"));
    expect(MemoryStoreError.find(ended.error)).to.include({ scope: "a" });
    expect(warningsOf(ended).join()).to.include("'b'");
  });

  const brokenLongTerm = (): LongTermMemory => ({
    store: async () => Promise.reject(new Error("no room")),
    retrieve: async () => Promise.reject(new Error("index gone")),
  });
  const brokenEntities = (): EntityMemory => ({
    put: () => undefined,
    get: () => undefined,
    getAll: () => {
      throw new Error("gone");
    },
  });

  it("may be the long-term memory or the entities", async () => {
    for (const memory of [{ longTerm: brokenLongTerm() }, { entity: brokenEntities() }]) {
      expect(
        MemoryStoreError.isInstance((await run(new MapStore(), { memory })).error?.cause),
      ).to.equal(true);
    }
    const ended = await run(new MapStore(), {
      memory: { longTerm: brokenLongTerm(), entity: brokenEntities() },
      memoryErrors: "warn",
    });
    expect(ended.error).to.equal(undefined);
    expect(warningsOf(ended)).to.have.length(6);
  });

  it("returns no entries, or more than requested", async () => {
    for (const found of [
      undefined,
      "text",
      [undefined],
      [{ storedAt: new Date(0) }],
      Array.from({ length: 6 }, () => ({ content: "x", storedAt: new Date(0) })),
    ]) {
      const store = new MapStore();
      store.retrieve = async () => found as never; // what the types forbid
      const { error } = await run(store);
      expect(MemoryStoreError.isInstance(error?.cause), JSON.stringify(found)).to.equal(true);
    }
    const noMap = { ...brokenEntities(), getAll: () => ({ a: "b" }) as never }; // what the types forbid
    expect(
      MemoryStoreError.isInstance(
        (await run(new MapStore(), { memory: { entity: noMap } })).error?.cause,
      ),
    ).to.equal(true);
  });

  it("waits no longer than the time limits of the task and the run", async () => {
    for (const operation of ["retrieve", "store", "evict"] as const) {
      const hanging = new MapStore();
      hanging.before = (asked) => (asked === operation ? never() : undefined);
      const limited = await run(hanging, {
        tasks: [writing("One", { memory: MemoryScope.of("a").keepLastEntries(1), timeoutMs: 300 })],
        memoryErrors: "warn",
      });
      expect(TaskTimeoutError.isInstance(limited.error?.cause), operation).to.equal(true);
      expect(finished(limited)).to.deep.equal(operation === "retrieve" ? [] : ["first"]);
      const controller = new AbortController();
      hanging.before = (asked) => {
        if (asked !== operation) return undefined;
        setTimeout(() => controller.abort(), 10);
        return never();
      };
      const cancelled = await runToEnd(
        {
          tasks: [writing("One", { memory: MemoryScope.of("a").keepLastEntries(1) })],
          model: texts(),
          memoryStore: hanging,
        },
        { signal: controller.signal },
      );
      expect(RunCancelledError.isInstance(cancelled.error), operation).to.equal(true);
      expect(finished(cancelled)).to.deep.equal(operation === "retrieve" ? [] : ["first"]);
    }
  });

  it("writes nothing more after the run is cancelled", async () => {
    const controller = new AbortController();
    const store = new MapStore();
    store.before = (operation, scope) => {
      if (operation === "store" && scope === "a") controller.abort();
    };
    await runToEnd(
      {
        tasks: [writing("One", { memory: ["a", "b"] })],
        model: texts(),
        memoryStore: store,
        memoryErrors: "warn",
      },
      { signal: controller.signal },
    );
    expect(store.asked.filter(([operation]) => operation === "store")).to.have.length(1);
  });

  it("does not hide an early exit that a hook requests", async () => {
    const exits = definePlugin({
      name: "exits",
      apply: ({ hooks }) =>
        hooks.beforeMemoryWrite.tap(() => {
          throw new ExitEarlySignal("enough");
        }),
    });
    const ended = await run(new MapStore(), { memoryErrors: "warn", plugins: [exits] });
    expect(ended.output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(finished(ended)).to.deep.equal(["first"]);
  });

  it("rejects the call of a handler, with every memoryErrors", async () => {
    const seen: unknown[] = [];
    const handler: Task = new Task({
      description: "Handle",
      handler: async ({ memory }) => {
        for (const ask of [
          () => memory.retrieve("a", "x"),
          () => memory.store("a", { content: "x", storedAt: new Date(0) }),
        ])
          await ask().catch((error: unknown) => seen.push(error));
        return "done";
      },
    });
    const store = new MapStore();
    store.before = () => {
      throw new Error("disk full");
    };
    await runToEnd({ tasks: [handler], memoryStore: store, memoryErrors: "warn" });
    expect(seen.map((error) => MemoryStoreError.isInstance(error))).to.deep.equal([true, true]);
    seen.length = 0;
    await runToEnd({ tasks: [handler] });
    expect(
      seen.map((error) =>
        (error as { readonly code?: string; readonly hint?: string }).hint?.includes("memoryStore"),
      ),
    ).to.deep.equal([true, true]);
  });
});
