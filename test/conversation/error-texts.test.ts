import type { ConversationOptions } from "agentensemble";
import {
  Agent,
  AgentEnsembleError,
  attachment,
  Conversation,
  GuardrailResult,
  ModelCallError,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";

const SECRET = "my PIN is 4711";
const agent = new Agent({ role: "Clerk", goal: "Answers" });
const refusing = (): GuardrailResult => GuardrailResult.failure("not allowed");
const wav = (): Uint8Array =>
  Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVEfmt ", "latin1"), Buffer.alloc(16)]);
const call = { toolCalls: [{ name: "pay", arguments: { text: SECRET } }] };
const pay = tool({
  name: "pay",
  description: "Pays",
  requireApproval: true,
  execute: () => "paid",
});
const failing = new ModelCallError("overloaded", {
  provider: "p",
  modelId: "m",
  retryable: false,
});

/** Turns that fail. */
const WAYS: Readonly<Record<string, Partial<ConversationOptions>>> = {
  "no model": { model: undefined },
  "a model that fails": { model: new ScriptedModel([failing]) },
  "a guardrail of the input": { guardrails: { input: [refusing] } },
  "a guardrail of the output": { guardrails: { output: [refusing] } },
  "an approval without a reviewer": { tools: [pay], model: new ScriptedModel([call]) },
  "a file that the model does not accept": {
    model: Object.assign(new ScriptedModel(["done"]), { capabilities: { parts: { user: [] } } }),
  },
  "too many iterations": {
    agent: new Agent({ role: "Clerk", goal: "Answers", maxIterations: 1 }),
    tools: [tool({ name: "look", description: "Looks", execute: () => "found" })],
    model: new ScriptedModel([{ toolCalls: [{ name: "look", arguments: {} }] }], {
      onExhausted: "repeat-last",
    }),
  },
};

/** The messages of an error, of its causes and of their hints. */
function messagesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const hint = AgentEnsembleError.isInstance(error) ? (error.hint ?? "") : "";
  return [error.message, hint, ...messagesOf(error.cause)];
}

describe("the error of a turn omits the user's words", () => {
  for (const [way, options] of Object.entries(WAYS))
    it(`after ${way}`, async () => {
      const warnings: string[] = [];
      await using chat = new Conversation({
        agent,
        model: new ScriptedModel(["done"]),
        on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
        ...options,
      });
      const input = way.startsWith("a file")
        ? [{ type: "text" as const, text: SECRET }, attachment.fromBytes(wav())]
        : SECRET;
      const error: unknown = await chat
        .thread("t")
        .send(input)
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(AgentEnsembleError.isInstance(error), String(error)).to.equal(true);
      expect([...messagesOf(error), ...warnings].join("\n")).not.to.contain("4711");
      expect(await chat.thread("t").messages()).to.deep.equal([]);
    });
});
