import {
  Agent,
  Conversation,
  ConversationStore,
  ReviewDecision,
  tool,
  WindowPolicy,
} from "agentensemble";
import { ScriptedModel, type Step } from "agentensemble/testing";
import { approveAfterUntrusted } from "agentensemble/tools";
import { expect } from "chai";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { person } from "../../review/fixtures.js";

const call = (name: string): Step => ({ toolCalls: [{ name, arguments: { input: "x" } }] });

interface Chat {
  readonly conversation: Conversation;
  /** The prompts of the reviews. */
  readonly asked: () => readonly string[];
}

function chatWith(
  steps: readonly Step[],
  options: Partial<ConstructorParameters<typeof Conversation>[0]> = {},
): Chat {
  const { handler, asked } = person(ReviewDecision.continue());
  const tools = [
    tool({
      name: "fetch",
      description: "Reads",
      untrusted: true,
      effect: "read",
      execute: () => "p",
    }),
    tool({ name: "act", description: "Acts", effect: "send", execute: () => "done" }),
  ];
  const conversation = new Conversation({
    agent: new Agent({ role: "Clerk", goal: "Help", tools }),
    model: new ScriptedModel(steps),
    reviewHandler: handler,
    plugins: [approveAfterUntrusted()],
    ...options,
  });
  return { conversation, asked: () => asked.map(({ prompt }) => prompt ?? "") };
}

describe("approveAfterUntrusted() in a thread", () => {
  it("applies to all turns after the turn that has read text from outside", async () => {
    const steps = [call("act"), "a", call("fetch"), "b", call("act"), "c", call("act"), "d"];
    const { conversation, asked } = chatWith(steps);
    await using chat = conversation;
    const thread = chat.thread("t");
    for (const [message, reviews] of [
      ["1", 0],
      ["2", 0],
      ["3", 1],
      ["4", 2],
    ] as const) {
      await thread.send(message);
      expect(asked().length).to.equal(reviews);
    }
    expect(asked()[1]).to.include("turn stored after tool 'fetch'");
    await chat
      .thread("other")
      .send("5")
      .catch(() => undefined);
    expect(asked().length).to.equal(2);
  });

  it("applies in another process, in a fork, and after a failed turn that is kept", async () => {
    const store = ConversationStore.file(temporaryFolder());
    const first = chatWith([call("fetch"), new Error("no answer")], { store });
    await using chat = first.conversation;
    await chat.thread("t").send("1", { throwOnError: false, onFailure: "keep" });
    const second = chatWith([call("act"), "b", call("act"), "c"], { store });
    await using later = second.conversation;
    const fork = await later.thread("t").fork();
    await fork.send("2");
    await later.thread("t").send("2");
    expect(second.asked().length).to.equal(2);
  });

  it("applies when the summary of the turn replaces the turn", async () => {
    const window = WindowPolicy.summary({ turns: 1, keepTurns: 1 });
    const steps = [call("fetch"), "a", "b", "summary", "c", "summary", call("act"), "d"];
    const { conversation, asked } = chatWith(steps, { window });
    await using chat = conversation;
    for (const message of ["1", "2", "3", "4"]) await chat.thread("t").send(message);
    expect(asked().length).to.equal(1);
  });
});
