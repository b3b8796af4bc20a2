import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatModel, ChatRequest, MediaPart } from "agentensemble";
import {
  Agent,
  attachment,
  Conversation,
  ConversationStore,
  RecordingMismatchError,
  Task,
  tool,
  ToolResult,
} from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { setEnvironment } from "../../support/environment.js";
import { deadModel, play } from "./record-and-replay.js";

const SECRET = "tide-7731-harbour";
const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
const image = (end: string): MediaPart => attachment.fromBase64(base64(`\x89PNG\r\n\x1a\n${end}`));
const PDF = "%PDF-1.7 statute";
const NOTES = `The key is ${SECRET}.`;

/**
 * Requests a scan once, with a signed block of reasoning, then returns the number of received
 * parts.
 */
const live: ChatModel = {
  provider: "house",
  modelId: "m",
  chat: ({ messages }: ChatRequest) => {
    const last = messages.at(-1);
    const asks = last?.role === "user" && JSON.stringify(last.content).includes("Scan");
    const parts = messages.flatMap((m) =>
      m.role === "tool"
        ? (m.parts ?? [])
        : m.role === "user"
          ? [...m.content].filter((p) => typeof p !== "string")
          : [],
    );
    return Promise.resolve({
      message: {
        role: "assistant",
        content: asks ? "" : `${parts.length} parts`,
        ...(asks && {
          toolCalls: [{ id: "c1", name: "scan", arguments: "{}" }],
          reasoning: [
            {
              type: "reasoning",
              text: "Scan it.",
              provider: "house",
              modelId: "m",
              index: 0,
              data: { signature: "c2ln" },
            } as const,
          ],
        }),
      },
      finishReason: asks ? "tool_calls" : "stop",
      usage: { inputTokens: 5, outputTokens: 1 },
    });
  },
};
const scan = tool({
  name: "scan",
  description: "Scans",
  execute: () =>
    ToolResult.success("scanned", undefined, {
      parts: [
        attachment.fromBase64(base64(PDF)),
        attachment.fromBytes(Buffer.from(NOTES), { name: "notes.txt" }),
      ],
    }),
});
const agent = new Agent({ role: "Reader", goal: "Reads", tools: [scan] });
const asked = (model: ChatModel, part = image("one")) => ({
  model,
  tasks: [new Task({ name: "t", description: "Scan", agent, attachments: [part] })],
});

describe("a recording of images and files", () => {
  beforeEach(() => setEnvironment({ HARBOUR_API_KEY: SECRET }));

  it("contains their hashes, and replays results of tools without the tool", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const { output } = await play(asked(live), [recordTo(file)]);
    expect(output.raw).to.match(/parts$/);
    const text = await readFile(file, "utf8");
    expect(text).to.include('"sha256"').and.include("c2ln").and.include(base64(PDF));
    for (const absent of [image("one").data, SECRET, base64(NOTES)])
      expect(text).to.not.include(absent);
    const dead = deadModel(live);
    for (let i = 0; i < 2; i++) {
      const played = await play(asked(dead), [replayFrom(file)]);
      expect(played.error).to.equal(undefined);
      expect(played.output.raw).to.equal(output.raw);
    }
    expect(dead.calls).to.equal(0);
  });

  it("keeps a file of a result that is larger than the limit of texts", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const large = Buffer.concat([Buffer.from("%PDF-1.7 "), Buffer.alloc(16 * 1024 * 1024)]);
    const big = tool({
      name: "scan",
      description: "Scans",
      execute: () =>
        ToolResult.success("scanned", undefined, { parts: [attachment.fromBytes(large)] }),
    });
    const options = (model: ChatModel) => ({
      model,
      tasks: [new Task({ description: "Scan", agent: agent.with({ tools: [big] }) })],
    });
    await play(options(live), [recordTo(file)]);
    const { output, error } = await play(options(deadModel(live)), [replayFrom(file)]);
    expect(error).to.equal(undefined);
    expect(output.raw).to.match(/parts$/);
  });

  it("refuses another image with the same words", async () => {
    const file = join(temporaryFolder(), "run.jsonl");
    await play(asked(live), [recordTo(file)]);
    const { error } = await play(asked(deadModel(live), image("two")), [replayFrom(file)]);
    expect(RecordingMismatchError.find(error)?.message).to.include(
      "differs in an image or a file of message 2",
    );
  });

  it("replays a thread without a key", async () => {
    const file = join(temporaryFolder(), "thread.jsonl");
    const turns = async (model: ChatModel, plugin: ReturnType<typeof recordTo>) => {
      await using chat = new Conversation({
        agent,
        model,
        store: ConversationStore.inMemory(),
        plugins: [plugin],
      });
      const thread = chat.thread("t");
      const first = await thread.send([{ type: "text", text: "Scan" }, image("one")]);
      const second = await thread.send("And now?");
      return [first.text, second.text];
    };
    const texts = await turns(live, recordTo(file));
    const dead = deadModel(live);
    expect(await turns(dead, replayFrom(file))).to.deep.equal(texts);
    expect(dead.calls).to.equal(0);
  });
});
