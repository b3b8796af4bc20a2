import type { AgentOptions } from "agentensemble";
import { Agent, Ensemble, Review, Task, ToolResult, ValidationError, tool } from "agentensemble";
import { expect } from "chai";
import { z } from "zod";
import { knownNames, nearestName } from "../../src/contracts/validation.js";

/** The message of a constructor's error. */
function refusal(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (ValidationError.isInstance(error)) return error.message;
    throw error;
  }
  throw new Error("accepted");
}

const agent = (changes: object): string =>
  refusal(() => new Agent({ role: "r", goal: "g", ...changes }));
const task = (changes: object): string => refusal(() => new Task({ description: "d", ...changes }));
const noop = tool({ name: "noop", description: "Does nothing", execute: () => "" });

describe("an unknown name", () => {
  const names = Array.from({ length: 24 }, (_, i) => `option${i}`);

  it("is answered with the nearest name first, then at most ten names, then the number of the others", () => {
    expect(knownNames("optoin3", names, ", all in the docs")).to.equal(
      `Did you mean 'option3'? Known: ${names.slice(0, 10).join(", ")} and 14 more, all in the docs.`,
    );
    expect(knownNames("b", ["bb", "c"])).to.equal("Did you mean 'bb'? Known: bb, c.");
    expect(knownNames("b", ["b", "c"])).to.equal("Known: b, c.");
    expect(knownNames("x", [])).to.equal("None is registered.");
  });

  it("is answered without a suggestion if no name is similar", () => {
    for (const [given, known] of [
      ["x", "y"],
      ["pg", "ai"],
      ["abc", "xyz"],
      ["memoryScopeOfTheTask", "memoryStoreForTask"],
    ] as const)
      expect(nearestName(given, [known]), given).to.equal(undefined);
    expect(nearestName("TEMPRATURE", ["temperature"])).to.equal("temperature");
    expect(nearestName("taks", ["task"])).to.equal("task");
  });

  it("lists ten options of an ensemble, and refers to the page with the others", () => {
    const message = refusal(() => new Ensemble({ taks: [] } as never));
    expect(message).to.match(/^Unknown option 'taks' in Ensemble\. Did you mean 'tasks'\? Known: /);
    expect(message).to.match(/ and \d+ more, all in the type of these options\.$/);
    expect(message.split(",").length).to.be.lessThan(12);
  });
});

describe("Agent", () => {
  it("refuses with the messages of the specification", () => {
    expect(agent({ role: " " })).to.equal("Agent role must not be blank");
    expect(agent({ goal: "" })).to.equal("Agent goal must not be blank");
    expect(agent({ maxIterations: 0 })).to.equal("Agent maxIterations must be > 0, got: 0");
    expect(agent({ maxIterations: 1.5 })).to.equal("Agent maxIterations must be > 0, got: 1.5");
    expect(agent({ tools: [noop, null] })).to.equal("Tool at index 1 must not be null");
    expect(agent({ tools: [new Date(0)] })).to.equal("Tool at index 0 (Date) is not a tool");
    expect(agent({ tools: [noop, noop] })).to.match(/^Duplicate tool name 'noop'/);
    const forgotten = (): Agent =>
      new Agent({ role: "r", goal: "g", tools: [function clockTool() {} as never] });
    expect(forgotten)
      .to.throw(ValidationError)
      .with.property("hint", "Call the function that creates the tool: clockTool(...).");
  });

  it("checks in the order of the specification", () => {
    expect(agent({ role: "", goal: "", maxIterations: 0 })).to.include("role");
    expect(agent({ goal: "", maxIterations: 0, tools: [null] })).to.include("goal");
    expect(agent({ maxIterations: 0, tools: [null] })).to.include("maxIterations");
  });

  it("names the option that corresponds to a name from another framework", () => {
    expect(agent({ instructions: "x" })).to.equal(
      "Unknown option 'instructions' in Agent. Use background instead.",
    );
    expect(agent({ maxSteps: 3 })).to.match(/Use maxIterations instead\.$/);
    expect(agent({ modelOptions: { maxTokens: 9 } })).to.match(/Use maxOutputTokens instead\.$/);
    expect(refusal(() => new Task({ prompt: "x" } as never))).to.match(/Use description instead/);
    expect(refusal(() => tool({ inputSchema: {} } as never))).to.match(/Use input instead\.$/);
    expect(refusal(() => new Ensemble({ timeoutMs: 5 } as never))).to.equal(
      "Unknown option 'timeoutMs' in Ensemble. Use the option timeoutMs of run() instead.",
    );
    expect(agent({ toString: 1 })).to.include("Unknown option 'toString' in Agent. ");
  });

  it("names the option for each name from other frameworks that it does not have", () => {
    const names = [
      "instructions",
      "system",
      "inputSchema",
      "outputSchema",
      "maxSteps",
      "llm",
      "prompt",
    ];
    const made: Readonly<Record<string, (o: never) => unknown>> = {
      Agent: (o) => new Agent(o),
      Task: (o) => new Task(o),
      Ensemble: (o) => new Ensemble(o),
    };
    for (const [what, make] of Object.entries(made))
      for (const name of names)
        expect(
          refusal(() => make({ [name]: "x" } as never)),
          `${what} ${name}`,
        ).to.match(new RegExp(`^Unknown option '${name}' in ${what}\\. Use .+ instead\\.$`));
    for (const name of ["inputSchema", "outputSchema", "instructions", "prompt"])
      expect(
        refusal(() => tool({ [name]: "x" } as never)),
        name,
      ).to.match(/Use .+ instead\.$/);
    expect(agent({ name: "x" })).to.match(/Use role instead\.$/);
  });

  it("refuses unknown options and suggests the nearest", () => {
    expect(agent({ tols: [] }))
      .to.include("Unknown option 'tols' in Agent")
      .and.include("Did you mean 'tools'?");
    expect(agent({ modelOptions: { temprature: 0 } })).to.include("Did you mean 'temperature'?");
    expect(refusal(() => new Agent(undefined as unknown as AgentOptions))).to.include(
      "Agent options must be an object",
    );
  });

  it("has the documented defaults, is frozen, and accepts maxIterations 1", () => {
    const made = new Agent({
      role: "r",
      goal: "g",
      background: undefined,
      tools: undefined,
      maxIterations: undefined,
    });
    expect(made).to.include({ maxIterations: 25, responseFormat: "", background: undefined });
    expect(made.tools).to.deep.equal([]).and.to.be.frozen;
    expect(made).to.be.frozen;
    expect(new Agent({ role: "r", goal: "g", maxIterations: 1 }).maxIterations).to.equal(1);
  });

  it("creates changed copies, in which undefined restores the default", () => {
    const made = new Agent({ role: "r", goal: "g", maxIterations: 3 });
    expect(made.with({ role: "s" })).to.include({ role: "s", goal: "g", maxIterations: 3 });
    expect(made.with({ maxIterations: undefined }).maxIterations).to.equal(25);
    expect(made.role).to.equal("r");
    expect(refusal(() => made.with({ role: "" }))).to.equal("Agent role must not be blank");
  });
});

describe("Task", () => {
  const handler = (): string => "x";

  it("refuses with the messages of the specification", () => {
    expect(task({ name: " " })).to.equal("Task name must not be blank when set");
    expect(task({ description: "" })).to.equal("Task description must not be blank");
    expect(task({ expectedOutput: " " })).to.equal("Task expectedOutput must not be blank");
    expect(task({ tools: [null] })).to.equal("Task tool at index 0 must not be null");
    expect(task({ tools: [noop, {}] })).to.equal("Task tool at index 1 (Object) is not a tool");
    expect(task({ maxIterations: 0 })).to.equal("Task maxIterations must be > 0 when set, got: 0");
    expect(task({ context: [undefined] })).to.equal(
      "Task context element at index 0 must not be null",
    );
    expect(task({ maxOutputRetries: -1 })).to.equal("Task maxOutputRetries must be >= 0, got: -1");
    const one = new Agent({ role: "r", goal: "g" });
    expect(task({ agent: one, context: [new Task({ description: "d", agent: one })] })).to.equal(
      "Task cannot reference itself in context",
    );
  });

  it("refuses options that a handler excludes", () => {
    const both = (changes: object): string => task({ handler, ...changes });
    const without = "A handler runs deterministically without an";
    expect(both({ agent: new Agent({ role: "r", goal: "g" }) })).to.equal(
      `Task cannot have both a handler and an explicit agent. ${without} LLM; remove the agent.`,
    );
    expect(both({ model: "openai:x" })).to.equal(
      `Task cannot have both a handler and a model. ${without} LLM; remove the model.`,
    );
    expect(both({ tools: [noop] })).to.equal(
      `Task cannot have both a handler and tools. ${without} LLM; configure tools inside the handler instead.`,
    );
    expect(both({ maxIterations: 2 })).to.equal(
      `Task cannot have both a handler and maxIterations. ${without} iteration loop; remove the maxIterations.`,
    );
  });

  it("refuses unknown options and invalid handlers, schemas, guardrails and times", () => {
    expect(task({ expectedOutputs: "x" })).to.include("Did you mean 'expectedOutput'?");
    expect(task({ handler: "x" })).to.include("Task handler must be a function or a tool");
    expect(task({ outputType: {} })).to.include("Task outputType must be a Standard Schema");
    expect(task({ outputGuardrails: ["x"] })).to.include(
      "Task outputGuardrails element at index 0",
    );
    expect(task({ timeoutMs: 0 })).to.include(
      "Task timeoutMs must be a positive number of milliseconds",
    );
    expect(task({ timeoutMs: 2 ** 31 })).to.include("2147483647");
    expect(task({ guardrailRetries: 0.5 })).to.include("Task guardrailRetries must be >= 0");
    expect(task({ agent: { role: "r" } })).to.include("Task agent must be an Agent");
    expect(task({ context: "x" })).to.include("Task context must be an array");
  });

  it("has the documented defaults and is frozen", () => {
    const made = new Task({ description: "d", agent: undefined, handler: undefined });
    expect(made).to.include({
      expectedOutput: "Produce a complete and accurate response to the task.",
      maxOutputRetries: 3,
      guardrailRetries: 0,
      name: undefined,
    });
    expect(made.context).to.deep.equal([]);
    expect(made).to.be.frozen;
  });

  it("has a short form", () => {
    expect(Task.of("d")).to.include({
      description: "d",
      expectedOutput: "Produce a complete and accurate response to the task.",
    });
    expect(Task.of("d", "e").expectedOutput).to.equal("e");
    const schema = z.object({ a: z.string() });
    expect(Task.of("d", schema).outputType).to.equal(schema);
  });

  it("creates changed copies, which are different tasks", () => {
    const made = new Task({ name: "n", description: "d", handler });
    const copy = made.with({ description: "e" });
    expect(copy).to.include({ name: "n", description: "e", handler }).and.not.equal(made);
    expect(made.with({ name: undefined }).name).to.equal(undefined);
    expect(refusal(() => made.with({ description: "" }))).to.equal(
      "Task description must not be blank",
    );
  });
});

describe("tool", () => {
  it("refuses invalid options", () => {
    const base = { name: "t", description: "d", execute: () => "" };
    const refused = (changes: object): string => refusal(() => tool({ ...base, ...changes }));
    expect(refused({ name: "" })).to.equal("Tool name must not be blank");
    expect(refused({ name: "say hello" })).to.equal(
      "Tool name must be 1 to 64 letters, digits, '_' and '-', got: say hello",
    );
    expect(refused({ name: "x".repeat(65) })).to.contain("Tool name must be 1 to 64 letters");
    expect(refused({ description: " " })).to.include("description must not be blank");
    expect(refused({ execute: undefined })).to.include("execute must be a function");
    expect(refused({ timeoutMs: -1 })).to.include("timeoutMs");
    expect(refused({ input: "x" })).to.include("input must be a schema");
    expect(refused({ input: { a: z.string() } })).to.equal(
      "Tool 't' input has a schema for each field, not one schema",
    );
    expect(refused({ exec: 1 })).to.include("Unknown option 'exec'");
  });
});

describe("ToolResult", () => {
  it("is recognised, also of another copy of the package", () => {
    const foreign = Object.defineProperty(
      { ok: true, output: "" },
      Symbol.for("agentensemble/tool-result"),
      { value: true },
    );
    expect(
      [ToolResult.success("x"), ToolResult.failure("x"), foreign].map((value) =>
        ToolResult.isInstance(value),
      ),
    ).to.deep.equal([true, true, true]);
    for (const value of [undefined, null, "x", {}, { ok: true, output: "" }])
      expect(ToolResult.isInstance(value)).to.equal(false);
  });

  it("always has the reason of the failure", () => {
    expect(ToolResult.failure("").errorMessage).to.equal("Tool execution failed with no message");
    expect(ToolResult.success("x", { a: 1 })).to.include({ ok: true, output: "x" }).and.to.be
      .frozen;
  });
});

describe("Review.required", () => {
  it("refuses options, which would have no effect", () => {
    const required = Review.required as (...values: readonly unknown[]) => Review;
    const options = { requiredRole: "lead" };
    for (const values of [[options], ["Good?", options], [undefined, options]])
      expect(refusal(() => required(...values))).to.equal(
        'Review.required accepts only a prompt, got: {"requiredRole":"lead"}',
      );
    expect(Review.required("Good?")).to.deep.equal({ mode: "REQUIRED", prompt: "Good?" });
  });
});
