import { expect } from "chai";
import fc from "fast-check";
import { decode } from "@toon-format/toon";
import { z } from "zod";
import {
  Agent,
  Ensemble,
  MemoryStore,
  Task,
  Tokens,
  ToolResult,
  ValidationError,
  definePlugin,
  tool,
} from "../../../src/index.js";
import { memoryTool } from "../../../src/memory.js";
import { startToon } from "../../../src/plugins/context-format/toon-formatter.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";

const rows = Array.from({ length: 20 }, (_, i) => ({ id: i, name: `person ${i}`, age: 20 + i }));
const json = JSON.stringify(rows);
const People = z.array(z.object({ id: z.number(), name: z.string(), age: z.number() }));

/** The text of the last message to the model. */
function lastMessage(model: ScriptedModel): string {
  return JSON.stringify(model.requests.at(-1)?.messages.at(-1)?.content ?? "")
    .replaceAll("\\n", "\n")
    .replaceAll(`\\"`, `"`)
    .slice(1, -1);
}

describe("contextFormat", () => {
  const first = new Task({ description: "List them", outputType: People });
  const second = new Task({ description: "Sum up", context: [first] });

  it("writes structured outputs of earlier tasks as TOON, and reports the savings", async () => {
    const model = new ScriptedModel([json, "done"]);
    const output = await new Ensemble({
      model,
      tasks: [first, second],
      contextFormat: "TOON",
    }).run();
    const prompt = lastMessage(model);
    expect(prompt).to.include("[20]{id,name,age}:").and.not.include('"person 3"');
    const { contextFormat } = output.metrics;
    expect(contextFormat).to.include({ name: "TOON", payloads: 1, converted: 1 });
    expect(contextFormat?.sentTokens).to.be.lessThan((contextFormat?.originalTokens ?? 0) * 0.8);
    expect(output.getOutput(first)?.raw).to.equal(json); // earlier messages are not changed
  });

  it("writes structured tool results as TOON", async () => {
    const list = tool({
      name: "list",
      description: "Lists people",
      execute: () => ToolResult.success(json, rows),
    });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "list", arguments: { input: "" } }] },
      "done",
    ]);
    const task = new Task({
      description: "Go",
      agent: new Agent({ role: "R", goal: "G", tools: [list] }),
    });
    const output = await new Ensemble({ model, tasks: [task], contextFormat: "TOON" }).run();
    expect(lastMessage(model)).to.match(/^\[20\]\{id,name,age\}:/);
    expect(output.trace.taskTraces[0]?.llmInteractions[0]?.toolCalls[0]?.result).to.equal(json);
  });

  it("writes the results of the memory tool as TOON", async () => {
    const store = MemoryStore.inMemory();
    await store.store("people", { content: json, structuredContent: rows, storedAt: new Date(0) });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "retrieveMemory", arguments: { query: "who?" } }] },
      "done",
    ]);
    const task = new Task({ description: "Go", tools: [memoryTool("people", store)] });
    const output = await new Ensemble({ model, tasks: [task], contextFormat: "TOON" }).run();
    expect(lastMessage(model)).to.include("- [20]{id,name,age}:");
    expect(output.metrics.contextFormat).to.include({ payloads: 1, converted: 1 });
  });

  it("writes a structured task for a manager as TOON", async () => {
    const agent = new Agent({ role: "Worker", goal: "Work" });
    const delegated = {
      name: "delegateTask",
      arguments: { agentRole: "Worker", taskDescription: "List them", taskNumber: 1 },
    };
    const model = new ScriptedModel([{ toolCalls: [delegated] }, json, "done"]);
    const task = new Task({ description: "List them", outputType: People, agent });
    const output = await new Ensemble({
      model,
      tasks: [task],
      workflow: "HIERARCHICAL",
      contextFormat: "TOON",
    }).run();
    expect(lastMessage(model)).to.match(/^\[20\]\{id,name,age\}:/);
    expect(output.metrics.contextFormat).to.include({ payloads: 1, converted: 1 });
    expect(output.getOutput(task)?.raw).to.equal(json);
  });

  it("keeps every text unchanged with JSON, and without the option", async () => {
    const prompts: string[] = [];
    for (const options of [{ contextFormat: "JSON" as const }, {}]) {
      const model = new ScriptedModel([json, "done"]);
      const output = await new Ensemble({ model, tasks: [first, second], ...options }).run();
      prompts.push(lastMessage(model));
      expect(output.metrics).to.not.have.property("contextFormat");
    }
    expect(prompts[0]).to.equal(prompts[1]).and.include(json);
  });

  it("keeps the text if TOON would be longer, and texts without a value", async () => {
    const model = new ScriptedModel(['{"a":1}', "plain", "done"]);
    const short = new Task({ description: "Short", outputType: z.object({ a: z.number() }) });
    const plain = Task.of("Plain");
    const output = await new Ensemble({
      model,
      tasks: [short, plain, new Task({ description: "End", context: [short, plain] })],
      contextFormat: "TOON",
    }).run();
    expect(lastMessage(model)).to.include("plain");
    expect(output.metrics.contextFormat?.payloads).to.equal(1);
    expect(output.metrics.contextFormat?.sentTokens).to.be.at.most(
      output.metrics.contextFormat?.originalTokens ?? 0,
    );
  });

  it("is refused before any cost arises if its package is missing, or its name is unknown", async () => {
    const missing = definePlugin({
      name: "missing",
      bind: (b) =>
        b.many(Tokens.ContextFormat).toConstantValue({
          name: "TOON",
          start: () =>
            Promise.reject(new ValidationError("TOON context format requires a package")),
        }),
    });
    const model = new ScriptedModel(["never"]);
    const ensemble = new Ensemble({
      model,
      tasks: [second.with({ context: [] })],
      contextFormat: "TOON",
      plugins: [missing],
    });
    const error = await ensemble.run().catch((e: unknown) => e);
    expect(ValidationError.isInstance(error)).to.equal(true);
    expect(model.requests).to.deep.equal([]);
    const unknown = await new Ensemble({ model, tasks: [Task.of("x")], contextFormat: "YAML" })
      .run()
      .catch((e: unknown) => e);
    expect(unknown)
      .to.be.instanceOf(ValidationError)
      .with.property("message", "Unknown contextFormat 'YAML'. Known: JSON, TOON.");
    expect(model.requests).to.deep.equal([]);
    for (const none of ["", 5, null])
      expect(() => new Ensemble({ tasks: [], contextFormat: none as never })).to.throw(
        ValidationError,
        "contextFormat",
      ); // no name
  });

  it("accepts a custom format, chosen by its name, and counts its savings", async () => {
    const savings = { name: "ROWS", payloads: 1, converted: 1, originalTokens: 9, sentTokens: 2 };
    const own = definePlugin({
      name: "rows",
      bind: (b) =>
        b.many(Tokens.ContextFormat).toConstantValue({
          name: "ROWS",
          start: async () => ({ savings, format: (value) => `rows: ${(value as []).length}` }),
        }),
    });
    const model = new ScriptedModel([json, "done"]);
    const output = await new Ensemble({
      model,
      tasks: [first, second],
      contextFormat: "ROWS",
      plugins: [own],
    }).run();
    expect(lastMessage(model)).to.include("rows: 20").and.not.include("person 1");
    expect(output.metrics.contextFormat).to.deep.equal(savings);
  });
});

describe("the TOON formatter", () => {
  it("never loses or changes a value, and never takes more tokens", async () => {
    const formatter = await startToon();
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const written = formatter.format(value, text);
        if (written !== text) expect(decode(written)).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
    const { originalTokens, sentTokens } = formatter.savings;
    expect(sentTokens).to.be.at.most(originalTokens);
  });

  it("keeps the text of a value that JSON can't represent", async () => {
    const formatter = await startToon();
    const circular: { self?: unknown } = {};
    circular.self = circular;
    expect(formatter.format(circular, "as it is")).to.equal("as it is");
  });
});
