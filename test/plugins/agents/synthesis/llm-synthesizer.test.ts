import { expect } from "chai";
import type { ScriptStep } from "../../../../src/plugins/testing/script-step.js";
import { ModelCallError, TaskExecutionError } from "../../../../src/contracts/errors.js";
import { Task } from "../../../../src/contracts/task.js";
import { tool } from "../../../../src/contracts/tool.js";
import { AgentSynthesizer } from "../../../../src/ensemble/factories.js";
import { Ensemble } from "../../../../src/ensemble/ensemble.js";
import { ScriptedModel } from "../../../../src/testing.js";

const look = tool({ name: "look", description: "Looks", execute: () => "seen" });

/** A team of one task without an agent; the first answer is the synthesizer's, the second the agent's. */
function team(synthesis: ScriptStep, o: { readonly prompts?: Record<string, string> } = {}) {
  const model = new ScriptedModel([synthesis, "done"]);
  const warnings: string[] = [];
  const task = new Task({
    description: "Research {topic}",
    expectedOutput: "A list",
    tools: [look],
    maxIterations: 3,
  });
  const ensemble = new Ensemble({
    model,
    tasks: [task],
    agentSynthesizer: AgentSynthesizer.llmBased(),
    prompts: o.prompts,
    on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
  });
  return { model, warnings, ensemble, run: () => ensemble.run({ topic: "owls" }) };
}

describe("AgentSynthesizer.llmBased()", () => {
  it("creates the agent that the model describes", async () => {
    const { model, run, warnings } = team({
      text: '{"role":" Ornithologist ","goal":"Find owls","backstory":"Thirty years of fieldwork"}',
      usage: { inputTokens: 7, outputTokens: 3 },
    });
    const output = await run();
    expect(output.taskOutputs[0]?.agentRole).to.equal("Ornithologist");
    expect(model.requests[1]?.messages[0]?.content).to.include(
      "You are Ornithologist.\nThirty years of fieldwork\n\nYour personal goal is: Find owls",
    );
    expect(warnings).to.deep.equal([]);
  });

  it("sends one user message with the task's filled texts, and counts the call as synthesis", async () => {
    const { model, run } = team('{"role":"R","goal":"G"}');
    const output = await run();
    const [first] = model.requests;
    expect(first?.messages.map(({ role }) => role)).to.deep.equal(["user"]);
    expect(first?.messages[0]?.content)
      .to.include("Research owls")
      .and.include("A list")
      .and.include('"backstory"');
    expect(first?.tools).to.equal(undefined);
    expect(output.metrics.ledger.map(({ purpose }) => purpose)).to.deep.equal([
      "synthesis",
      "task",
    ]);
    expect(output.metrics.llmCallCount).to.equal(2);
  });

  it("adds the task's tools to the agent", async () => {
    const { model, run } = team('{"role":"R","goal":"G","backstory":" "}');
    await run();
    expect(model.requests[1]?.tools?.map(({ name }) => name)).to.deep.equal(["look"]);
    expect(model.requests[1]?.messages[0]?.content).to.match(/^You are R\.\n\nYour/); // a blank backstory is none
  });

  for (const [what, text] of Object.entries({
    "no JSON": "An owl expert",
    "no role": '{"goal":"G"}',
    "a blank goal": '{"role":"R","goal":"  "}',
    "a value that is not an object": '["R","G"]',
    "texts of another type": '{"role":1,"goal":{}}',
    nothing: "",
  })) {
    it(`creates the agent from the description, with a warning, if the answer has ${what}`, async () => {
      const { run, warnings } = team({ text });
      const output = await run();
      expect(output.taskOutputs[0]?.agentRole).to.equal("Researcher");
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include("Research owls");
    });
  }

  it("fails the task with the model's own error", async () => {
    const error = new ModelCallError("down", {
      provider: "scripted",
      modelId: "scripted",
      retryable: false,
    });
    const caught: unknown = await team(error)
      .run()
      .catch((e: unknown) => e);
    expect(TaskExecutionError.isInstance(caught)).to.equal(true);
    expect(ModelCallError.find(caught)?.message).to.equal("down");
  });

  it("reads its question from the named text synthesis.prompt", async () => {
    const { model, run } = team('{"role":"R","goal":"G"}', {
      prompts: { "synthesis.prompt": "Who does {description}?" },
    });
    await run();
    expect(model.requests[0]?.messages[0]?.content).to.equal("Who does Research owls?");
  });

  it("is marked as unknown by explain(), which calls no model", async () => {
    const { ensemble, model } = team("unused");
    const explained = await ensemble.explain({ topic: "owls" });
    expect(explained.tasks[0]).to.include({ agentRole: "(synthesized)", synthesizedByModel: true });
    expect(model.requests).to.deep.equal([]);
  });
});

describe("AgentSynthesizer.template()", () => {
  it("calls no model", async () => {
    const model = new ScriptedModel(["done"]);
    const output = await new Ensemble({
      model,
      tasks: [Task.of("Write a poem")],
      agentSynthesizer: AgentSynthesizer.template(),
    }).run();
    expect(output.taskOutputs[0]?.agentRole).to.equal("Writer");
    model.assertExhausted();
  });
});
