import { Agent, Task, tool, ToolConfigurationError, type JsonSchema } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd } from "../support/kernel-fixtures.js";

const PERSON: JsonSchema = Object.freeze({
  type: "object",
  properties: {
    name: { type: "string", minLength: 1 },
    age: { type: "integer" },
    tags: { type: "array", items: { enum: ["a", "b"] } },
  },
  required: ["name"],
  additionalProperties: false,
});

/**
 * The messages to a model that calls a tool with each of the arguments, and the arguments that it
 * passed.
 */
async function call(input: JsonSchema, ...args: readonly object[]) {
  const got: unknown[] = [];
  const used = tool({
    name: "keep",
    description: "Keeps",
    input,
    execute: (value) => void got.push(value),
  });
  const model = new ScriptedModel([
    ...args.map((a) => ({ toolCalls: [{ name: "keep", arguments: a }] })),
    "done",
  ]);
  const agent = new Agent({ role: "Clerk", goal: "Keep", tools: [used], model });
  const ended = await runToEnd({ tasks: [new Task({ description: "Keep it", agent })] });
  const told = (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [message.content] : [],
  );
  return { ...ended, got, told };
}

describe("a tool's input of plain JSON Schema", () => {
  it("is checked completely, and the model receives each problem with its location", async () => {
    const { got, told } = await call(
      PERSON,
      { name: "" },
      { name: "Ann", age: "old" },
      { name: "Ann", tags: ["a", "c"] },
      { name: "Ann", nam: 1 },
      { age: 1 },
    );
    expect(told).to.deep.equal([
      "Error: Invalid input for tool 'keep': name: String is too short (0 < 1).",
      'Error: Invalid input for tool \'keep\': age: Instance type "string" is invalid. Expected "integer".',
      'Error: Invalid input for tool \'keep\': tags.1: Instance does not match any of ["a","b"].',
      "Error: Invalid input for tool 'keep': nam: not allowed",
      "Error: Invalid input for tool 'keep': missing required parameter(s): name",
    ]);
    expect(got).to.deep.equal([]);
  });

  it("reaches the tool if it is valid", async () => {
    const { got } = await call(PERSON, { name: "Ann", age: 7, tags: ["b"] }, { name: "Bo" });
    expect(got).to.deep.equal([{ name: "Ann", age: 7, tags: ["b"] }, { name: "Bo" }]);
  });

  for (const [what, schema] of [
    [
      "a reference without a target",
      { type: "object", properties: { name: { $ref: "#/$defs/none" } } },
    ],
    [
      "a pattern that the engine does not support",
      { properties: { name: { pattern: "a{1,5000}" } } },
    ],
  ] as const) {
    it(`fails the task if it can't be read: ${what}`, async () => {
      const { error, output, got } = await call(schema, { name: "Ann" });
      expect(ToolConfigurationError.find(error)?.message).to.match(
        /^The input of tool 'keep' can't be read as a JSON Schema: [^\n]+$/,
      );
      expect(
        output.trace.taskTraces[0]?.llmInteractions[0]?.toolCalls.map(({ outcome }) => outcome),
      ).to.deep.equal(["ERROR"]);
      expect(got).to.deep.equal([]);
    });
  }
});
