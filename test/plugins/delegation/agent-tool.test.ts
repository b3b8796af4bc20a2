import type { DelegationRequest, EnsembleEvent, EnsembleOptions, ToolLike } from "agentensemble";
import { Agent, agentTool, Ensemble, Task, ValidationError } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";

const translator = new Agent({ role: "Translator (fast)", goal: "Translates" });

const translate = agentTool(translator, {
  name: "translate",
  description: "Translates a text",
  inputType: z.object({ text: z.string(), to: z.enum(["de", "fr"]) }),
  outputType: z.object({ text: z.string() }),
  prompt: ({ text, to }) => `Into ${to}: ${text}`,
});

const ensembleWith = (
  tools: readonly ToolLike[],
  model: ScriptedModel,
  options: Partial<EnsembleOptions> = {},
): Ensemble =>
  new Ensemble({
    model,
    ...options,
    tasks: [
      new Task({
        description: "Write",
        agent: new Agent({ role: "Writer", goal: "Writes", tools }),
      }),
    ],
  });

const calling = (name: string, args: object): object => ({
  toolCalls: [{ name, arguments: args }],
});
const lastResultOf = (model: ScriptedModel): unknown =>
  model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool");

describe("agentTool()", () => {
  it("uses the role, the goal and one text parameter as defaults", async () => {
    const plain = agentTool(translator);
    expect([plain.name, plain.description, plain.delegates]).to.deep.equal([
      "translator__fast_",
      "Translates",
      true,
    ]);
    const model = new ScriptedModel([
      calling(plain.name, { task: "Say hello in French" }),
      "Bonjour",
      "done",
    ]);
    await ensembleWith([plain], model).run();
    expect(lastResultOf(model)).to.include({ content: "Bonjour" });
    const request = model.requests[1];
    expect(request?.messages[0]?.content).to.contain("You are Translator (fast)");
    expect(request?.messages[1]?.content).to.contain("Say hello in French");
    expect(request?.messages).to.have.length(2);
  });

  it("accepts a typed input and returns a typed output", async () => {
    const model = new ScriptedModel([
      calling("translate", { text: "Hello", to: "de" }),
      '{"text":"Hallo"}',
      "done",
    ]);
    const events: EnsembleEvent[] = [];
    const ensemble = ensembleWith([translate], model, {
      on: (event) => void events.push(event),
    });
    const { taskOutputs } = await ensemble.run();
    expect(taskOutputs.map(({ raw }) => raw)).to.deep.equal(["done"]);
    expect(lastResultOf(model)).to.include({ content: '{"text":"Hallo"}' });
    expect(model.requests[1]?.messages[1]?.content).to.contain("Into de: Hello");
    const called = events.find((event) => event.type === "tool_called");
    expect(called).to.deep.include({ structuredResult: { text: "Hallo" } });
    expect(model.requests[0]?.tools?.[0]?.parameters).to.have.nested.property("properties.to");
  });

  it("delegates in the mode tool, by policies and with a separate task", async () => {
    const asked: DelegationRequest[] = [];
    const model = new ScriptedModel([calling("translate", { text: "a", to: "fr" }), "done"]);
    const ensemble = ensembleWith([translate], model, {
      delegationPolicies: [
        (request) => {
          asked.push(request);
          return { type: "REJECT", reason: "not now" };
        },
      ],
    });
    await ensemble.run();
    expect(asked[0]).to.include({ mode: "tool", agentRole: "Translator (fast)" });
    expect(lastResultOf(model)).to.include({
      isError: true,
      content: "Error: Delegation rejected by policy: not now",
    });
  });

  it("counts against maxDelegationDepth", async () => {
    const inner = agentTool(new Agent({ role: "Inner", goal: "Works" }));
    const outer = agentTool(new Agent({ role: "Outer", goal: "Works", tools: [inner] }));
    const model = new ScriptedModel([
      calling("outer", { task: "x" }),
      calling("inner", { task: "y" }),
      "alone",
      "done",
    ]);
    await ensembleWith([outer], model, { maxDelegationDepth: 1 }).run();
    const [result] = (model.requests[2]?.messages ?? []).filter(({ role }) => role === "tool");
    expect(result?.content).to.contain("Delegation depth limit reached (max: 1");
  });

  it("returns the failure of the agent as a failed result", async () => {
    const model = new ScriptedModel([
      calling("translate", { text: "a", to: "fr" }),
      { error: new ValidationError("no such model") },
      "sorry",
    ]);
    const { raw } = await ensembleWith([translate], model).run();
    expect(raw).to.equal("sorry");
    expect(lastResultOf(model)).to.have.property("isError", true);
  });

  it("refuses a blank task as a failed result", async () => {
    const model = new ScriptedModel([calling("translator__fast_", { task: " " }), "sorry"]);
    await ensembleWith([agentTool(translator)], model).run();
    expect(lastResultOf(model)).to.include({ content: "Error: The task must not be blank." });
  });

  it("refuses an invalid agent, and unknown options", () => {
    expect(() => agentTool({} as never)).to.throw(ValidationError, "needs an Agent");
    expect(() => agentTool(translator, { inputtype: 1 } as never)).to.throw(
      ValidationError,
      "inputtype",
    );
    expect(() => agentTool(translator, { prompt: "x" as never })).to.throw(ValidationError);
  });
});
