import { expect } from "chai";
import type {
  AssistantMessage,
  ChatModel,
  ChatResponse,
} from "../../../../src/contracts/chat-model.js";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { streamEvent } from "../../../support/openai-wire.js";
import { chunksOf } from "../../../support/collect.js";

const MODEL = "loopback-model-2026";
const QUESTION = { role: "user", content: "What is 2 + 2?" } as const;
const CALL = { id: "c1", type: "function", function: { name: "add", arguments: "{}" } };

describe("reasoning_content of compatible servers", () => {
  let server: OpenAIServer;

  beforeEach(async () => (server = await OpenAIServer.start()));
  afterEach(() => server.close());

  async function answerTo(fields: object, stream: boolean, calls = [CALL]): Promise<ChatResponse> {
    const reason = calls.length === 0 ? "stop" : "tool_calls";
    const indexed = calls.map((call, index) => ({ index, ...call }));
    const message = { role: "assistant", content: "Hm", ...fields, tool_calls: calls };
    const choices = [{ index: 0, finish_reason: reason, message }];
    server.reply(
      stream
        ? {
            kind: "events",
            events: [
              streamEvent({ content: "Hm", ...fields }),
              streamEvent({ tool_calls: indexed }, reason),
            ],
            end: "done",
          }
        : { kind: "raw", body: JSON.stringify({ id: "r", model: MODEL, choices }) },
      { kind: "answer", text: "4" },
    );
    const model = openai(MODEL, { apiKey: "k", baseURL: server.url });
    if (!stream) return model.chat({ messages: [QUESTION] });
    const last = (await chunksOf(model, { messages: [QUESTION] })).at(-1);
    if (last?.type !== "finish") throw new Error("the stream did not finish");
    return last.response;
  }

  /** Returns the wire form of the message in the next request to the model. */
  async function sentBack(message: AssistantMessage, model: ChatModel): Promise<unknown> {
    await model.chat({
      messages: [
        QUESTION,
        JSON.parse(JSON.stringify(message)) as AssistantMessage,
        { role: "tool", toolCallId: "c1", toolName: "add", content: "4" },
      ],
    });
    const body = server.requests.at(-1)?.body;
    return ((body?.["messages"] ?? body?.["input"]) as readonly unknown[])[1];
  }

  for (const stream of [false, true])
    for (const thought of ["Add them.", ""])
      it(`is sent back to the model with its tool calls: '${thought}'${stream ? ", streamed" : ""}`, async () => {
        const { message } = await answerTo({ reasoning_content: thought }, stream);
        const own = openai(MODEL, { apiKey: "k", baseURL: server.url });
        expect(await sentBack(message, own)).to.deep.equal({
          role: "assistant",
          content: "Hm",
          reasoning_content: thought,
          tool_calls: [CALL],
        });
        const other = openai("other", { apiKey: "k", baseURL: server.url });
        expect(await sentBack(message, other)).to.not.have.property("reasoning_content");
      });

  for (const [what, fields, calls] of [
    ["of an answer without tool calls", { reasoning_content: "Add." }, []],
    ["of another name", { reasoning: "Add." }, [CALL]],
    ["of null", { reasoning_content: null }, [CALL]],
  ] as const)
    it(`is not sent back: reasoning ${what}`, async () => {
      const { message } = await answerTo(fields, false, [...calls]);
      const own = openai(MODEL, { apiKey: "k", baseURL: server.url });
      expect(await sentBack(message, own)).to.not.have.any.keys("reasoning_content", "reasoning");
    });

  it("is not sent to the Responses API", async () => {
    const { message } = await answerTo({ reasoning_content: "Add them." }, false);
    const responses = await OpenAIServer.startResponses();
    try {
      responses.reply({ kind: "answer", text: "4" });
      const model = openai(MODEL, { apiKey: "k", baseURL: responses.url, api: "responses" });
      await model.chat({ messages: [QUESTION, message] });
      expect(responses.requests[0]?.body["input"]).to.deep.equal([
        QUESTION,
        { role: "assistant", content: "Hm" },
        { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
      ]);
    } finally {
      await responses.close();
    }
  });
});
