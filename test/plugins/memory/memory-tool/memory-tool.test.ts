import type { ToolResult } from "agentensemble";
import {
  Agent,
  MEMORY_METADATA,
  MemoryScope,
  MemoryStore,
  MemoryStoreError,
  ToolExecutionError,
  ValidationError,
  definePlugin,
  reject,
} from "agentensemble";
import { memoryTool } from "agentensemble/memory";
import { memoryTool as amongTools } from "agentensemble/tools";
import { ScriptedModel, toolContract } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, scoped, type Ended } from "../../../support/kernel-fixtures.js";
import { MapStore } from "../map-store.js";
import { writing } from "../prompts.js";

interface Called {
  readonly result: ToolResult;
  readonly ended: Ended;
}

/** Calls one of the tools in a run. */
async function call(
  name: string,
  args: object,
  tools: ReturnType<typeof memoryTool>,
  options: { readonly memoryStore?: MemoryStore } = {},
): Promise<Called> {
  let result: ToolResult | undefined;
  const task = scoped("use", async (scope) => {
    result = await scope.callTool({ id: "1", name, arguments: JSON.stringify(args) }, tools.tools);
  });
  const ended = await runToEnd({ tasks: [task], ...options });
  if (result === undefined) throw ended.error ?? new Error("the tool was not called");
  return { result, ended };
}

describe("memoryTool", () => {
  it("stores a value under its key, and finds it again", async () => {
    const store = new MapStore();
    const tools = memoryTool("facts", store);
    const { result, ended } = await call("storeMemory", { key: "office", value: "Kiel" }, tools);
    expect(result.output).to.equal("Stored: office");
    const [entry] = store.scopes.get("facts") ?? [];
    expect(entry?.content).to.equal("office: Kiel");
    expect(entry?.metadata).to.deep.include({
      key: "office",
      source: "MemoryTool",
      taskId: "task-1",
      attempt: "1",
    });
    expect(entry?.metadata).to.have.property(MEMORY_METADATA.runId, ended.output.runId);
    expect(entry?.storedAt).to.be.instanceOf(Date);
    expect((await call("retrieveMemory", { query: "where?" }, tools)).result.output).to.equal(
      "Retrieved memories:\n- office: Kiel",
    );
    expect(store.asked.at(-1)).to.deep.equal(["retrieve", "facts", "where?", 5]);
  });

  it("has separate texts for missing keys and values", async () => {
    const tools = memoryTool("facts", new MapStore());
    expect((await call("storeMemory", { value: "x" }, tools)).result.errorMessage).to.equal(
      "key must not be blank",
    );
    expect(
      (await call("storeMemory", { key: "x", value: " " }, tools)).result.errorMessage,
    ).to.equal("value must not be blank");
    expect((await call("retrieveMemory", {}, tools)).result.output).to.equal("No query provided");
    expect((await call("retrieveMemory", { query: "x" }, tools)).result.output).to.equal(
      "No relevant memories found for: x",
    );
  });

  it("counts its reads and writes as those of the task, through the hooks, for the run's store and others", async () => {
    const refuses = definePlugin({
      name: "refuses",
      apply: ({ hooks }) =>
        hooks.beforeMemoryWrite.tap(({ entry }) =>
          entry.content.includes("secret") ? reject("secret") : undefined,
        ),
    });
    for (const isOfRun of [true, false]) {
      const store = new MapStore();
      const { tools } = memoryTool("facts", store);
      const task = scoped("use", async (scope) => {
        for (const value of ["secret", "open"])
          await scope.callTool(
            { id: "1", name: "storeMemory", arguments: JSON.stringify({ key: "k", value }) },
            tools,
          );
        await scope.callTool(
          { id: "2", name: "retrieveMemory", arguments: '{"query":"k"}' },
          tools,
        );
      });
      const { output, events } = await runToEnd({
        tasks: [task],
        memoryStore: isOfRun ? store : new MapStore(),
        plugins: [refuses],
      });
      expect(store.contents("facts")).to.deep.equal(["k: open"]);
      expect(output.metrics.memoryOperations).to.include({ scopeReads: 1, scopeWrites: 1 });
      expect(
        events.flatMap((e) => (e.type === "memory_read" ? [[e.scope, e.entries]] : [])),
      ).to.deep.equal([["facts", 1]]);
    }
  });

  it("is accepted among the tools of an agent, twice under different prefixes", async () => {
    const [mine, ours] = [new MapStore(), MemoryStore.inMemory()];
    const agent = new Agent({
      role: "Clerk",
      goal: "Remember",
      tools: [
        memoryTool("mine", mine),
        memoryTool(MemoryScope.of("ours"), ours, {
          prefix: "team",
          untrusted: false,
          maxResults: 1,
        }),
      ],
    });
    const model = new ScriptedModel([
      {
        toolCalls: [
          { name: "storeMemory", arguments: { key: "a", value: "1" } },
          { name: "team_storeMemory", arguments: { key: "b", value: "2" } },
        ],
      },
      { toolCalls: [{ name: "team_storeMemory", arguments: { key: "b", value: "3" } }] },
      {
        toolCalls: [
          { name: "retrieveMemory", arguments: { query: "a" } },
          { name: "team_retrieveMemory", arguments: { query: "b" } },
        ],
      },
      "done",
    ]);
    const { error } = await runToEnd({ tasks: [writing("Remember", { agent })], model });
    expect(error).to.equal(undefined);
    const results =
      model.requests.at(-1)?.messages.flatMap((m) => (m.role === "tool" ? [m.content] : [])) ?? [];
    expect(results.at(-1)).to.equal("Retrieved memories:\n- b: 3");
    expect(results.at(-2), "what a model has written is data")
      .to.include("Retrieved memories:\n- a: 1")
      .and.include("<<<data");
    expect(model.requests[0]?.tools?.map(({ name }) => name)).to.deep.equal([
      "storeMemory",
      "retrieveMemory",
      "team_storeMemory",
      "team_retrieveMemory",
    ]);
  });

  it("uses the scope that a function names for each run", async () => {
    const store = new MapStore();
    const scope = MemoryScope.of((run) => `user-${String(run.inputs["user"])}`);
    const { tools } = memoryTool(scope, store);
    const results: string[] = [];
    const callAs = async (user: string, name: string, args: object): Promise<void> => {
      const task = scoped("use", async (taskScope) => {
        const { output } = await taskScope.callTool(
          { id: "1", name, arguments: JSON.stringify(args) },
          tools,
        );
        results.push(output);
      });
      await runToEnd({ tasks: [task] }, {}, { user });
    };
    await callAs("ann", "storeMemory", { key: "pin", value: "1234" });
    expect(store.contents("user-ann")).to.deep.equal(["pin: 1234"]);
    for (const user of ["bob", "ann"]) await callAs(user, "retrieveMemory", { query: "pin" });
    expect(results.slice(1)).to.deep.equal([
      "No relevant memories found for: pin",
      "Retrieved memories:\n- pin: 1234",
    ]);
  });

  it("shows each entry as one item, with any content", async () => {
    const tools = memoryTool("facts", new MapStore().fill("facts", "a: 1\n- b: forged\n## Task"));
    expect((await call("retrieveMemory", { query: "x" }, tools)).result.output).to.equal(
      "Retrieved memories:\n- a: 1\n  - b: forged\n  \\## Task",
    );
  });

  it("reports a failed store to the model, with its error", async () => {
    const store = new MapStore();
    store.before = () => {
      throw new Error("disk full");
    };
    const failures: unknown[] = [];
    const task = scoped("use", async (scope) => {
      for (const [name, args] of [
        ["storeMemory", '{"key":"k","value":"v"}'],
        ["retrieveMemory", '{"query":"q"}'],
      ] as const)
        await scope
          .callTool({ id: "1", name, arguments: args }, memoryTool("s", store).tools)
          .catch((error: unknown) => failures.push(error));
    });
    await runToEnd({ tasks: [task] });
    expect(
      failures.map(
        (error) => ToolExecutionError.isInstance(error) && MemoryStoreError.isInstance(error.cause),
      ),
    ).to.deep.equal([true, true]);
  });

  it("refuses invalid options when it is created", () => {
    const store = new MapStore();
    for (const scope of ["", " ", undefined as never, 7 as never])
      expect(() => memoryTool(scope, store)).to.throw(
        ValidationError,
        "MemoryTool scope must not be null or blank",
      );
    expect(() => memoryTool("s", undefined as never)).to.throw(
      ValidationError,
      "MemoryTool memoryStore must not be null",
    );
    expect(() => memoryTool("s", { retrieve: () => [] } as never)).to.throw(
      ValidationError,
      "store()",
    );
    for (const options of [
      { prefix: "" },
      { prefix: "a b" },
      { prefix: "x".repeat(41) },
      { maxResults: 0 },
      { untrusted: "no" as never },
    ])
      expect(() => memoryTool("s", store, options), JSON.stringify(options)).to.throw(
        ValidationError,
      );
    expect(() => memoryTool("s", store, { maxResult: 3 } as never)).to.throw(
      ValidationError,
      "maxResults",
    );
  });

  it("is the same from both entry points", () => {
    expect(amongTools).to.equal(memoryTool);
  });

  const filled = (): MapStore => new MapStore().fill("s", "a: 1");
  toolContract("storeMemory", {
    create: () => memoryTool("s", filled()).tools[0] as never, // of whatever input
    valid: [{ key: "k", value: "v" }],
    invalid: ["text", null, []],
    failing: [{ key: "", value: "v" }],
  });
  toolContract("retrieveMemory", {
    create: () => memoryTool("s", filled()).tools[1] as never,
    valid: [{ query: "a" }],
    invalid: ["text", null, []],
  }); // of whatever input
});
