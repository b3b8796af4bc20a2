import {
  Ensemble,
  RunCancelledError,
  RunTimeoutError,
  Task,
  ValidationError,
  type EnsembleOptions,
} from "agentensemble";
import { mcpServer } from "agentensemble/mcp";
import { ScriptedModel } from "agentensemble/testing";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { z } from "zod";
import { failure } from "../support/kernel-fixtures.js";

const inputType = z.object({
  topic: z.string().min(2),
  words: z.number().int().default(100),
});
const task = Task.of("Write {words} words on {topic}");

describe("typed inputs of an ensemble", () => {
  const model = new ScriptedModel(() => "Otters swim.");
  const promptOf = (index = -1): string => JSON.stringify(model.requests.at(index)?.messages);

  it("type run() and fill the templates with the values that the schema returns", async () => {
    await using ensemble = new Ensemble({ model, tasks: [task], inputType });
    await ensemble.run({ topic: "otters" });
    expect(promptOf()).to.include("Write 100 words on otters");
    await ensemble.stream({ topic: "seals", words: 5 }).output;
    expect(promptOf()).to.include("Write 5 words on seals");
    const wrong = ensemble.run(
      // @ts-expect-error a number is no topic
      { topic: 7 },
    );
    expect(await failure(wrong)).to.be.instanceOf(ValidationError);
    // @ts-expect-error inputs can't be left out
    expect(await failure(ensemble.run())).to.be.instanceOf(ValidationError);
  });

  it("are checked before any cost arises, in run(), stream() and explain()", async () => {
    await using ensemble = new Ensemble({ model, tasks: [task], inputType });
    const inputs = { topic: "x", words: 1.5 };
    const { length } = model.requests;
    for (const wrong of [
      ensemble.run(inputs),
      ensemble.stream(inputs).output,
      ensemble.explain(inputs),
    ]) {
      const error = await failure(wrong);
      expect(error).to.be.instanceOf(ValidationError);
      expect((error as Error).message)
        .to.match(/^The inputs do not fit the ensemble's inputType: topic: /)
        .and.include("words: ");
    }
    expect(model.requests).to.have.length(length);
  });

  it("include the ensemble's own inputs", async () => {
    await using ensemble = new Ensemble({
      model,
      tasks: [task],
      inputType: z.object({ topic: z.string().optional(), words: z.number() }),
      inputs: { topic: "otters" },
    });
    await ensemble.run({ words: 3 });
    expect(promptOf()).to.include("Write 3 words on otters");
  });

  it("keep inputs unchanged without a schema", async () => {
    const options: EnsembleOptions = { model, tasks: [task] };
    await using ensemble = new Ensemble(options);
    // @ts-expect-error run options are the second argument
    const mistaken = ensemble.run({ topic: "otters", words: "7", signal: 7 });
    expect((await mistaken).raw).to.equal("Otters swim.");
    expect(promptOf()).to.include("Write 7 words on otters");
  });

  it("are returned by explain() as JSON Schema", async () => {
    await using ensemble = new Ensemble({ model, tasks: [task], inputType });
    const { inputs } = await ensemble.explain({ topic: "otters" });
    expect(inputs).to.deep.include({ type: "object", required: ["topic"] });
    await using untyped = new Ensemble({ model, tasks: [Task.of("Say hello")] });
    expect(await untyped.explain()).not.to.have.property("inputs");
  });

  for (const [what, type, part] of [
    ["a value that is not a schema", 7, "must be a schema"],
    ["plain JSON Schema, which checks nothing", { type: "object" }, "must be a schema"],
    ["a schema of a value that is not an object", z.string(), "describe an object"],
    ["a schema without JSON Schema", z.object({ at: z.date() }), "JSON Schema"],
  ] as const)
    it(`refuse ${what}`, () => {
      expect(() => new Ensemble({ tasks: [task], inputType: type as never })).to.throw(
        ValidationError,
        part,
      );
    });

  it("refuse a schema that does not return an object", async () => {
    await using ensemble = new Ensemble({
      model,
      tasks: [task],
      inputType: { schema: z.unknown().transform(() => 7), jsonSchema: { type: "object" } },
    });
    expect(await failure(ensemble.run({}))).to.have.property("code", "AE_VALIDATION");
  });

  it("are the arguments of the tasks that an MCP server offers, and are checked for them", async () => {
    await using server = mcpServer({
      model,
      inputType,
      inputs: { words: 9 },
      tasks: [task.with({ name: "write" })],
    });
    const [near, far] = InMemoryTransport.createLinkedPair();
    void server.serve(near);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(far);
    const { tools } = await client.listTools();
    expect(tools[0]?.inputSchema).to.deep.include({ required: ["topic"] });
    expect(tools[0]?.inputSchema.properties).to.have.keys("topic", "words");
    const { length } = model.requests;
    const short = await client.callTool({ name: "write", arguments: { topic: "x" } });
    expect(short.isError).to.equal(true);
    expect(model.requests).to.have.length(length);
    await client.callTool({ name: "write", arguments: { topic: "seals" } });
    expect(promptOf()).to.include("Write 9 words on seals");
    await client.close();
  });

  it("stop an asynchronous check at the time limit of the caller", async () => {
    const hanging = z.object({
      topic: z.string().refine(() => new Promise<boolean>(() => undefined)),
    });
    await using ensemble = new Ensemble({ model, tasks: [Task.of("Write")], inputType: hanging });
    const inputs = { topic: "otters" };
    expect(await failure(ensemble.run(inputs, { timeoutMs: 20 }))).to.be.instanceOf(
      RunTimeoutError,
    );
    const signal = AbortSignal.timeout(20);
    expect(await failure(ensemble.run(inputs, { signal }))).to.be.instanceOf(RunCancelledError);
    const handle = ensemble.stream(inputs);
    handle.cancel("no longer wanted");
    expect((await failure(handle.output)).message).to.include("no longer wanted");
  });
});
