import type { ConversationOptions } from "agentensemble";
import { ConversationStore, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { Gate } from "../../conversation/gate.js";
import { checkUiParts, textsOf, typesOf } from "../ui/fixtures.js";
import { chatService, partsIn, type ChatService } from "./chat-service.js";
import { memoryLog } from "./memory-log.js";

const STREAM_OF = "/api/chat/t/stream";

describe("chatHandler with the log of runs", () => {
  const made: ChatService[] = [];
  afterEach(async () => {
    for (const desk of made.splice(0)) await desk[Symbol.asyncDispose]();
  });
  const open: typeof chatService = async (...options) => {
    const desk = await chatService(...options);
    made.push(desk);
    return desk;
  };
  /** An agent whose tool waits for a gate. */
  const looking = (gate: Gate): Partial<ConversationOptions> => ({
    tools: [
      tool({ name: "look", description: "l", execute: () => gate.pass().then(() => "found") }),
    ],
    model: new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? "There."
        : { text: "Let me see.", toolCalls: [{ name: "look", arguments: {} }] },
    ),
  });

  it("streams a turn in progress that no store of streams contains", async () => {
    const { log, record } = memoryLog();
    const gate = new Gate();
    const desk = await open({ ...looking(gate), on: record }, { log });
    const answer = await desk.send("t", "Where?");
    await gate.arrival();
    const back = await desk.service.fetch(STREAM_OF);
    expect(back.status).to.equal(200);
    gate.open();
    const parts = await partsIn(back);
    await checkUiParts(parts);
    expect(textsOf(parts)).to.deep.equal(textsOf(await partsIn(answer)));
    expect((await desk.service.fetch(STREAM_OF)).status).to.equal(204);
  });

  it("shows the parts sent by a killed process, then an error, to the owner only", async () => {
    const { log, record } = memoryLog();
    const store = ConversationStore.inMemory();
    const gate = new Gate();
    let isKilled = false;
    const first = await open(
      { ...looking(gate), store, on: (event) => void (isKilled || record(event)) },
      { log },
    );
    const answer = await first.send("t", "Where?");
    await gate.arrival();
    isKilled = true;

    const restarted = await open({ store: ConversationStore.inMemory(), on: record }, { log });
    const back = await restarted.service.fetch(STREAM_OF);
    expect(back.headers.get("x-agentensemble-run-id")).to.equal(
      answer.headers.get("x-agentensemble-run-id"),
    );
    const parts = await partsIn(back);
    await checkUiParts(parts);
    expect(typesOf(parts)).to.include("tool-input-available");
    expect(parts.at(-1)?.["errorText"]).to.match(/AE_RUN_INTERRUPTED/);
    for (const user of ["bob", "guest"])
      expect(
        (await restarted.service.fetch(STREAM_OF, { headers: { "x-user": user } })).status,
      ).to.equal(204);
    const other = await open({ name: "other", on: record }, { log });
    expect((await other.service.fetch(STREAM_OF)).status).to.equal(204);

    await partsIn(await restarted.send("t", "Again"));
    expect((await restarted.service.fetch(STREAM_OF)).status).to.equal(204);
    gate.open();
    await partsIn(answer);
  });

  it("refuses a log that is not a store", async () => {
    let thrown: unknown;
    await open({}, { log: {} as never }).catch((error: unknown) => (thrown = error));
    expect(String(thrown)).to.contain("chatHandler log must be a store");
  });
});
