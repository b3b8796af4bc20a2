import { expect } from "chai";
import type {
  AssistantMessage,
  ChatMessage,
  ChatModel,
} from "../../../../src/contracts/chat-model.js";
import { anthropic } from "../../../../src/plugins/providers/anthropic/index.js";
import { AnthropicServer } from "../../../support/anthropic-server.js";
import { messageEnd, messageStart } from "../../../support/anthropic-wire.js";
import { chunksOf } from "../../../support/collect.js";

type Block = Readonly<Record<string, unknown>>;

const QUESTION: ChatMessage = { role: "user", content: "What is 2 + 2?" };
const REQUEST = { messages: [QUESTION], reasoning: { effort: "high" } } as const;
const thinking = (signature: string): Block => ({ type: "thinking", thinking: "Hm.", signature });
const FIRST = thinking("c2lnbmVk");
const SECOND = thinking("aGlkZGVu");
const CALL = { type: "tool_use", id: "c1", name: "add", input: {} };
const text = (words: string): Block => ({ type: "text", text: words });

describe("thinking blocks between other blocks of anthropic()", () => {
  let server: AnthropicServer;
  let model: ChatModel;

  beforeEach(async () => {
    server = await AnthropicServer.start();
    model = anthropic("claude-x", { apiKey: "k", baseURL: server.url });
  });
  afterEach(() => server.close());

  async function answerOf(
    content: readonly Block[],
    reason: string,
    stream: boolean,
  ): Promise<AssistantMessage> {
    if (!stream) {
      const document = { id: "m1", model: "claude-x", content, stop_reason: reason };
      server.reply({ kind: "raw", body: JSON.stringify(document) });
      return (await model.chat(REQUEST)).message;
    }
    const events = content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]);
    server.reply({
      kind: "events",
      events: [messageStart(), ...events, ...messageEnd(reason)],
      end: "close",
    });
    const last = (await chunksOf(model, REQUEST)).at(-1);
    if (last?.type !== "finish") throw new Error("the stream did not finish");
    return last.response.message;
  }

  /** Returns the content of the answer in the next request. */
  async function sentBack(message: AssistantMessage): Promise<unknown> {
    server.reply({ kind: "answer", text: "4" });
    await model.chat({ ...REQUEST, messages: [QUESTION, message, QUESTION] });
    return (server.requests.at(-1)?.body["messages"] as readonly ChatMessage[])
      .filter(({ role }) => role === "assistant")
      .map(({ content }) => content);
  }

  const cases: readonly (readonly [string, string, readonly Block[], readonly Block[]])[] = [
    [
      "keep their position if a blank text is omitted",
      "tool_use",
      [FIRST, text("\n\n"), SECOND, CALL],
      [FIRST, SECOND, CALL],
    ],
    [
      "keep their position before a text that begins with a blank text",
      "end_turn",
      [FIRST, text("\n\n"), SECOND, text("4")],
      [FIRST, SECOND, text("\n\n4")],
    ],
    [
      "are omitted if one of them would be the last block",
      "end_turn",
      [FIRST, text("2 + 2"), SECOND, text(" is 4")],
      [text("2 + 2 is 4")],
    ],
  ];
  for (const stream of [false, true]) {
    for (const [what, reason, content, expected] of cases)
      it(`${what}${stream ? ", streamed" : ""}`, async () => {
        expect(await sentBack(await answerOf(content, reason, stream))).to.deep.equal([expected]);
      });

    it(`are not sent without another block${stream ? ", streamed" : ""}`, async () => {
      expect(await sentBack(await answerOf([FIRST], "max_tokens", stream))).to.deep.equal([]);
    });
  }
});
