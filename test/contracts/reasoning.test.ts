import { Agent, Ensemble, Task, ValidationError } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { messagesOf } from "../../src/plugins/agents/chat/chat-messages.js";
import { AGENT_TEMPLATES } from "../../src/plugins/agents/shared/agent-prompts.js";
import { PromptLibrary } from "../../src/plugins/shared/prompts/prompt-library.js";
import { rejectionOf } from "../support/rejection.js";
import { fakeRun } from "../support/fake-scope.js";

const withOptions = (modelOptions: object) =>
  new Task({ description: "Think", modelOptions: modelOptions });

describe("reasoning and cache in modelOptions", () => {
  for (const [what, options, problem] of [
    [
      "an unknown effort",
      { reasoning: { effort: "huge" } },
      'reasoning.effort must be one of "none"',
    ],
    ["an unknown summary", { reasoning: { summary: "long" } }, "reasoning.summary must be one of"],
    ["a limit below 1,024", { reasoning: { budgetTokens: 100 } }, "budgetTokens must be >= 1024"],
    [
      "two limits",
      { reasoning: { effort: "low", budgetTokens: 2048 } },
      "has both effort and budgetTokens",
    ],
    ["an unknown setting", { reasoning: { efort: "low" } }, "Did you mean 'effort'?"],
    ["an unknown cache", { cache: "on" }, "modelOptions.cache must be"],
  ] as const)
    it(`may not be ${what}`, () =>
      expect(() => withOptions(options)).to.throw(ValidationError, problem));

  it("reach the model", async () => {
    const model = new ScriptedModel(["done"]);
    const options = { reasoning: { effort: "high", summary: "off" }, cache: { ttl: "1h" } };
    await new Ensemble({ model, tasks: [withOptions(options)] }).run();
    expect(model.requests[0]).to.deep.include(options);
  });

  it("are refused before any cost arises if the model does not accept them", async () => {
    for (const [reasoning, options, problem] of [
      [["effort"], { budgetTokens: 2048 }, "does not support reasoning.budgetTokens"],
      [[], { effort: "low" }, "does not support reasoning.effort"],
    ] as const) {
      const model = Object.assign(new ScriptedModel(["done"]), { capabilities: { reasoning } });
      const agent = new Agent({ role: "R", goal: "G", modelOptions: { reasoning: options } });
      const run = new Ensemble({ model, tasks: [new Task({ description: "Think", agent })] }).run();
      expect((await rejectionOf(ValidationError, run)).message).to.include(problem);
      expect(model.requests).to.deep.equal([]);
    }
  });
});

describe("reasoning in a thread", () => {
  it("is sent back only to the agent that produced it", () => {
    const reasoning = [
      { type: "reasoning", text: "secret", provider: "p", modelId: "m", index: 0 },
    ] as const;
    const common = { turnId: "t", at: "2026-01-01T00:00:00.000Z" };
    const turn = {
      v: 1,
      n: 0,
      ...common,
      status: "completed",
      agentRole: "Front desk",
      messages: [
        { id: "1", ...common, role: "user", content: "Hi" },
        {
          id: "2",
          ...common,
          role: "assistant",
          content: "Yes",
          agentRole: "Front desk",
          reasoning,
        },
      ],
    } as const;
    const seenBy = (agentRole: string): string => {
      const texts = new PromptLibrary(AGENT_TEMPLATES).textsOf([], fakeRun);
      return JSON.stringify(messagesOf({ turns: [turn] }, texts, { withTools: true, agentRole }));
    };
    expect(seenBy("Front desk")).to.include("secret");
    expect(seenBy("Billing")).to.include("Yes").and.not.include("secret");
  });
});
