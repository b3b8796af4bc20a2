import { expect } from "chai";
import * as v from "valibot";
import { z } from "zod";
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  FinishReason,
} from "../../../../src/contracts/chat-model.js";
import type { OutputSchema } from "../../../../src/contracts/types.js";
import { Agent } from "../../../../src/contracts/agent.js";
import { OutputParsingError, ValidationError } from "../../../../src/contracts/errors.js";
import { Task } from "../../../../src/contracts/task.js";
import { tool } from "../../../../src/contracts/tool.js";
import { ReactExecutor } from "../../../../src/plugins/agents/react/react-executor.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { failure, fakeScope, taskCall } from "../../../support/fake-scope.js";

const point = z.object({ x: z.number() });

function taskOf<T>(outputType: OutputSchema<T>, maxOutputRetries?: number): Task<T> {
  return new Task({ description: "Find x", outputType, maxOutputRetries });
}

/** A model that answers with these texts and finish reasons. */
class CuttingModel implements ChatModel {
  readonly provider = "cutting";
  readonly modelId = "cutting";
  readonly capabilities = { structuredOutput: true };
  readonly requests: ChatRequest[] = [];
  constructor(private readonly answers: readonly (readonly [string, FinishReason])[]) {}

  async chat(request: ChatRequest): Promise<ChatResponse> {
    const [content, finishReason] = this.answers[this.requests.length] ?? ["", "stop"];
    this.requests.push({ ...request, messages: [...request.messages] });
    return { message: { role: "assistant", content }, finishReason };
  }
}

describe("structured output", () => {
  it("returns the validated value and the accepted text", async () => {
    const schema = z.object({ x: z.string().transform(Number) });
    const result = await new ReactExecutor().execute(
      taskCall(taskOf(schema)),
      fakeScope({ model: new ScriptedModel(['So: {"x":"1"}']) }),
    );
    expect(result).to.deep.equal({ raw: 'So: {"x":"1"}', parsed: { x: 1 }, toolCallCount: 0 });
  });

  it("shows the compact JSON Schema of the input side, without its dialect", async () => {
    const model = new ScriptedModel(['{"x":"1"}']);
    await new ReactExecutor().execute(
      taskCall(taskOf(z.object({ x: z.string().transform(Number) }))),
      fakeScope({ model }),
    );
    const user = model.requests[0]?.messages[1]?.content as string;
    const shown = JSON.parse(user.slice(user.lastIndexOf("\n") + 1)) as Record<string, unknown>;
    expect(shown).to.deep.include({
      type: "object",
      properties: { x: { type: "string" } },
      required: ["x"],
    });
    expect(shown).to.not.have.property("$schema");
    expect(user.slice(user.lastIndexOf("\n") + 1)).to.equal(JSON.stringify(shown));
  });

  it("accepts any Standard Schema with a separate JSON Schema, including asynchronous schemas", async () => {
    const schema = v.objectAsync({
      x: v.pipeAsync(
        v.number(),
        v.checkAsync(async (x) => x > 0, "too small"),
      ),
    });
    const type = { schema, jsonSchema: { type: "object", properties: { x: { type: "number" } } } };
    const model = new ScriptedModel(['{"x":0}', '{"x":2}']);
    const result = await new ReactExecutor().execute(taskCall(taskOf(type)), fakeScope({ model }));
    expect(result.parsed).to.deep.equal({ x: 2 });
    expect(model.requests[1]?.messages.at(-1)?.content).to.include("x: too small");
  });

  it("finds scalars and enumerated words", async () => {
    const run = async <T>(type: OutputSchema<T>, text: string): Promise<unknown> =>
      (
        await new ReactExecutor().execute(
          taskCall(taskOf(type, 0)),
          fakeScope({ model: new ScriptedModel([text]) }),
        )
      ).parsed;
    expect(await run(z.number(), " 42 ")).to.equal(42);
    expect(await run(z.enum(["red", "green"]), "red")).to.equal("red");
    expect(await run(z.string(), "42")).to.equal("42");
    expect(await run(z.array(z.number()), "I'd say [1, 2].")).to.deep.equal([1, 2]);
  });

  it("asks for a correction in the same conversation", async () => {
    const model = new ScriptedModel(["I don't know", '{"x":"a"}', '{"x":1}']);
    const scope = fakeScope({ model });
    const result = await new ReactExecutor().execute(taskCall(taskOf(point)), scope);
    expect(result).to.deep.equal({ raw: '{"x":1}', parsed: { x: 1 }, toolCallCount: 0 });
    expect(scope.purposes).to.deep.equal(["task", "correction", "correction"]);
    const last = model.requests[2]?.messages ?? [];
    expect(last.map(({ role }) => role)).to.deep.equal([
      "system",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    expect(last[2]?.content).to.equal("I don't know");
    expect(last[3]?.content).to.match(
      /^Your previous response could not be parsed as valid JSON\.\nError: Could not find valid JSON in response: I don't know\n/,
    );
    expect(last[5]?.content).to.match(/Error: JSON could not be deserialized as object: x: /);
    expect(last[5]?.content).to.match(/\n\{"type":"object".*\}$/);
  });

  it("fails after the last correction, with every error", async () => {
    const model = new ScriptedModel(["one", "", '{"x":"a"}']);
    const long = new Task({
      description: "y".repeat(100),
      outputType: z.object({ x: z.number() }).meta({ title: "Point" }),
      maxOutputRetries: 2,
    });
    const error = await failure(new ReactExecutor().execute(taskCall(long), fakeScope({ model })));
    expect(error.message).to.equal(
      `Structured output parsing failed for task '${"y".repeat(80)}' after 3 attempt(s). Expected type: Point`,
    );
    expect(error)
      .to.be.instanceOf(OutputParsingError)
      .and.include({ rawOutput: '{"x":"a"}', attemptCount: 3 });
    const { parseErrors } = error as OutputParsingError;
    expect(parseErrors[0]).to.equal("Could not find valid JSON in response: one");
    expect(parseErrors[1]).to.equal("LLM produced an empty response");
    expect(parseErrors[2]).to.match(/^JSON could not be deserialized as Point: x: /);
  });

  it("asks for no correction if none is allowed", async () => {
    const model = new ScriptedModel(["one", '{"x":1}']);
    expect(
      await failure(new ReactExecutor().execute(taskCall(taskOf(point, 0)), fakeScope({ model }))),
    ).to.have.property("attemptCount", 1);
    expect(model.requests).to.have.lengthOf(1);
  });

  it("sends no empty message back", async () => {
    const model = new ScriptedModel(["", '{"x":1}']);
    await new ReactExecutor().execute(taskCall(taskOf(point)), fakeScope({ model }));
    expect(model.requests[1]?.messages.map(({ role }) => role)).to.deep.equal([
      "system",
      "user",
      "user",
    ]);
  });

  it("never accepts a text that was truncated by the output limit", async () => {
    const model = new CuttingModel([
      ['{"x":1}', "length"],
      ['{"x":2}', "stop"],
    ]);
    const result = await new ReactExecutor().execute(taskCall(taskOf(point)), fakeScope({ model }));
    expect(result.parsed).to.deep.equal({ x: 2 });
    expect(model.requests[1]?.messages.at(-1)?.content).to.include("cut by the output limit");
  });

  it("withholds the tools from a correction", async () => {
    const model = new ScriptedModel([
      { toolCalls: [{ name: "look", arguments: { input: "x" } }] },
      "one",
      '{"x":1}',
    ]);
    const agent = new Agent({
      role: "R",
      goal: "G",
      tools: [tool({ name: "look", description: "Looks", execute: () => "1" })],
    });
    const result = await new ReactExecutor().execute(
      taskCall(taskOf(point), { agent }),
      fakeScope({ model }),
    );
    expect(result).to.deep.include({ parsed: { x: 1 }, toolCallCount: 1 });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).to.deep.equal([
      undefined,
      undefined,
      "none",
    ]);
  });

  it("requests JSON of an object schema from a capable model, in every request", async () => {
    const model = new CuttingModel([
      ["no", "stop"],
      ['{"x":1}', "stop"],
    ]);
    await new ReactExecutor().execute(
      taskCall(taskOf(point.meta({ title: "A point!" }))),
      fakeScope({ model }),
    );
    expect(model.requests.map(({ responseFormat }) => responseFormat?.name)).to.deep.equal([
      "A_point_",
      "A_point_",
    ]);
    expect(model.requests[0]?.responseFormat?.schema).to.deep.include({
      type: "object",
      title: "A point!",
    });
  });

  it("requests no JSON for other schemas", async () => {
    const model = new CuttingModel([["[1]", "stop"]]);
    await new ReactExecutor().execute(taskCall(taskOf(z.array(z.number()))), fakeScope({ model }));
    expect(model.requests[0]).to.not.have.property("responseFormat");
  });

  it("treats a schema that throws like a schema that refuses", async () => {
    const picky = z.object({ x: z.number() }).transform((): number => {
      throw new Error("never");
    });
    const error = await failure(
      new ReactExecutor().execute(
        taskCall(taskOf(picky, 0)),
        fakeScope({ model: new ScriptedModel(['{"x":1}']) }),
      ),
    );
    expect((error as OutputParsingError).parseErrors[0]).to.include("never");
  });

  it("refuses a schema that cannot be written as JSON Schema before it calls anything", async () => {
    const scope = fakeScope();
    const error = await failure(
      new ReactExecutor().execute(taskCall(taskOf(z.object({ at: z.date() }))), scope),
    );
    expect(error).to.be.instanceOf(ValidationError);
    expect(error.message).to.include("'Find x'");
    expect(scope.requests).to.be.empty;
  });
});
