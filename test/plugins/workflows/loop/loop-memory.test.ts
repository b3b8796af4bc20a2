import type { LoopOptions, MemoryStore } from "agentensemble";
import { Loop, MemoryStoreError, ValidationError } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, type Ended } from "../../../support/kernel-fixtures.js";
import { MapStore } from "../../memory/map-store.js";
import { userPrompts, writing } from "../../memory/prompts.js";

const model = (): ScriptedModel => new ScriptedModel(["d1", "c1", "d2", "c2", "d3", "c3"]);

/** A loop of two tasks that both use the scope `loop`; the second also `own`. */
function looping(options: Partial<LoopOptions>, memory = true): Loop {
  const tasks = [
    writing("Draft", memory ? { memory: "loop" } : {}),
    writing("Critique", memory ? { memory: ["loop", "own"] } : {}),
  ];
  return new Loop({ name: "polish", tasks, maxIterations: 3, injectFeedback: false, ...options });
}

function run(
  loop: Loop,
  memoryStore: MemoryStore | undefined,
  options: { readonly memoryErrors?: "warn"; readonly model?: ScriptedModel } = {},
): Promise<Ended> {
  return runToEnd({ loops: [loop], model: model(), memoryStore, ...options });
}

const warningsOf = ({ events }: Ended): readonly string[] =>
  events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []));

describe("the memory of a loop", () => {
  it("accumulates by default", async () => {
    const store = new MapStore();
    const scripted = model();
    await run(looping({}), store, { model: scripted });
    expect(store.contents("loop")).to.deep.equal(["d1", "c1", "d2", "c2", "d3", "c3"]);
    expect(
      store.asked.some(([operation]) => operation === "clear" || operation === "evict"),
    ).to.equal(false);
    expect(userPrompts(scripted.requests)[4]).to.include("c2");
    expect(store.scopes.get("own")?.map(({ metadata }) => metadata?.["attempt"])).to.deep.equal([
      "1",
      "2",
      "3",
    ]);
  });

  it("is empty at the start of each iteration with FRESH_PER_ITERATION, except for the first", async () => {
    const store = new MapStore().fill("loop", "before");
    const scripted = model();
    await run(looping({ memoryMode: "FRESH_PER_ITERATION" }), store, { model: scripted });
    const prompts = userPrompts(scripted.requests);
    expect(prompts[0]).to.include("before");
    expect(prompts[2]).not.to.include("## Memory");
    expect(prompts[3]).to.include("d2").and.not.include("d1");
    expect(store.contents("loop")).to.deep.equal(["d3", "c3"]);
    expect(
      store.asked.flatMap(([operation, scope]) => (operation === "clear" ? [scope] : [])),
    ).to.deep.equal(["loop", "own", "loop", "own"]);
  });

  it("contains the last entries of each scope with WINDOW", async () => {
    const store = new MapStore();
    const scripted = model();
    await run(looping({ memoryMode: "WINDOW", memoryWindowSize: 1 }), store, { model: scripted });
    const prompts = userPrompts(scripted.requests);
    expect(prompts[2]).to.include("c1").and.not.include("d1");
    expect(store.contents("loop")).to.deep.equal(["c2", "d3", "c3"]);
    expect(store.contents("own")).to.deep.equal(["c2", "c3"]);
  });

  it("fails with the loop, the scope and the store if the store does not support it", async () => {
    for (const [memoryMode, operation] of [
      ["FRESH_PER_ITERATION", "clear"],
      ["WINDOW", "evict"],
    ] as const) {
      const store = new MapStore();
      store.before = (asked) => {
        if (asked === operation) throw new Error("not supported");
      };
      const loop = looping({
        memoryMode,
        memoryWindowSize: memoryMode === "WINDOW" ? 2 : undefined,
      });
      const failed = await run(loop, store);
      expect(MemoryStoreError.isInstance(failed.error)).to.equal(true);
      expect(failed.error).to.include({ operation, scope: "loop" });
      for (const word of ["'polish'", "'loop'", "MapStore", memoryMode, "not supported"])
        expect(failed.error?.message).to.include(word);
      expect(failed.output.completedTasks.map(({ raw }) => raw)).to.deep.equal(["d1", "c1"]);
      const warned = await run(loop, store, { memoryErrors: "warn" });
      expect(warned.error).to.equal(undefined);
      expect(warningsOf(warned)).to.have.length(4);
    }
  });

  it("ends with the run if the store hangs", async () => {
    const store = new MapStore();
    const controller = new AbortController();
    store.before = (asked) => {
      if (asked !== "clear") return undefined;
      controller.abort();
      return new Promise(() => undefined);
    };
    const ended = await runToEnd(
      {
        loops: [looping({ memoryMode: "FRESH_PER_ITERATION" })],
        model: model(),
        memoryStore: store,
      },
      { signal: controller.signal },
    );
    expect(ended.output.exitReason).to.equal("CANCELLED");
    expect(ended.output.completedTasks).to.have.length(2);
  });

  it("reports a mode that has no effect", async () => {
    const loop = { memoryMode: "FRESH_PER_ITERATION" } as const;
    expect(warningsOf(await run(looping(loop), undefined)).join()).to.include(
      "there is no memory store",
    );
    expect(warningsOf(await run(looping(loop, false), new MapStore())).join()).to.include(
      "none of its tasks",
    );
    expect(warningsOf(await run(looping({}, false), undefined))).to.deep.equal([]);
  });

  it("has a window if and only if it has a size", () => {
    const made =
      (options: Partial<LoopOptions>): (() => Loop) =>
      () =>
        looping(options);
    for (const memoryWindowSize of [undefined, 0, -1, 1.5, Number.NaN])
      expect(made({ memoryMode: "WINDOW", memoryWindowSize })).to.throw(
        ValidationError,
        "memoryWindowSize >= 1",
      );
    for (const memoryMode of [undefined, "ACCUMULATE", "FRESH_PER_ITERATION"] as const)
      expect(made({ memoryMode, memoryWindowSize: 1 })).to.throw(
        ValidationError,
        "only for memoryMode WINDOW",
      );
    expect(made({ memoryMode: "NONE" as "WINDOW" })).to.throw(ValidationError, "memoryMode"); // for users of plain JavaScript
    expect(looping({ memoryMode: "WINDOW", memoryWindowSize: 3 })).to.include({
      memoryMode: "WINDOW",
      memoryWindowSize: 3,
    });
    expect(looping({})).to.include({ memoryMode: "ACCUMULATE", memoryWindowSize: undefined });
  });
});
