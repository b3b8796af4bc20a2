import type { ChatChunk, ChatModel, EnsembleOptions } from "agentensemble";
import type { UIChunk } from "agentensemble/ui";
import { Agent, ModelCallError, Task } from "agentensemble";
import { retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { toUIMessageStream } from "agentensemble/ui";
import { expect } from "chai";
import { anthropic } from "../../../src/plugins/providers/anthropic/index.js";
import { openai } from "../../../src/plugins/providers/openai/index.js";
import { AnthropicServer } from "../../support/anthropic-server.js";
import { messageEnd, messageStart, textEvents } from "../../support/anthropic-wire.js";
import { eventText } from "../../support/model-server.js";
import { OpenAIServer } from "../../support/openai-server.js";
import { agUiEvents, checkUiParts, started, uiParts } from "./fixtures.js";

/** A model that streams these chunks, then ends with their text. */
function chunked(chunks: readonly ChatChunk[]): ChatModel {
  const joined = (type: "text" | "reasoning"): string =>
    chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");
  const response = {
    message: { role: "assistant", content: joined("text") },
    finishReason: "stop",
    reasoning: joined("reasoning"),
  } as const;
  return {
    ...{ provider: "p", modelId: "m" },
    chat: () => Promise.resolve(response),
    async *stream() {
      for (const chunk of chunks) yield await Promise.resolve(chunk);
      yield { type: "finish", response };
    },
  };
}

const thought = (index: number, text: string): ChatChunk => ({ type: "reasoning", index, text });
const text = (piece: string): ChatChunk => ({ type: "text", text: piece });
const options = (model: ChatModel): EnsembleOptions => ({ model, tasks: [Task.of("Count")] });

/**
 * The parts of texts and reasoning, in short form. Consecutive deltas are one: the number of joined
 * deltas depends on the reader.
 */
function spoken(parts: readonly UIChunk[]): readonly string[] {
  const lines: string[] = [];
  let previous = "";
  for (const { type, id, delta } of parts) {
    if (!/^(text|reasoning|data-answer)/.test(type)) continue;
    const line = `${type} ${String(id)}`;
    const piece = typeof delta === "string" ? delta : "";
    if (type.endsWith("-delta") && line === previous) lines.push(`${lines.pop() ?? ""}${piece}`);
    else lines.push(piece === "" ? line : `${line} ${piece}`);
    previous = line;
  }
  return lines;
}

describe("reasoning on a page", () => {
  it("streams block by block, and is not shown again at the end", async () => {
    const model = chunked([thought(0, "a"), thought(0, "b"), thought(1, "c"), text("42")]);
    const parts = await uiParts(options(model));
    expect(spoken(parts)).to.deep.equal([
      "reasoning-start r0",
      "reasoning-delta r0 ab",
      "reasoning-end r0",
      "reasoning-start r1",
      "reasoning-delta r1 c",
      "reasoning-end r1",
      "text-start t0",
      "text-delta t0 42",
      "text-end t0",
    ]);
  });

  it("is placed between texts of one answer that is not corrected", async () => {
    const model = chunked([text("4"), thought(0, "carry"), text("2")]);
    expect(spoken(await uiParts(options(model)))).to.deep.equal([
      ...["text-start t0", "text-delta t0 4", "text-end t0"],
      ...["reasoning-start r0", "reasoning-delta r0 carry", "reasoning-end r0"],
      ...["text-start t1", "text-delta t1 2", "text-end t1"],
    ]);
  });

  it("precedes the text if the model is not streamed", async () => {
    const { stream: _, ...model } = chunked([text("42"), thought(0, "I counted.")]);
    expect(spoken(await uiParts(options(model)))).to.deep.equal([
      ...["reasoning-start r0", "reasoning-delta r0 I counted.", "reasoning-end r0"],
      ...["text-start t0", "text-delta t0 42", "text-end t0"],
    ]);
  });

  it("is valid in AG-UI", async () => {
    const model = chunked([thought(0, "a"), thought(1, "b"), text("42")]);
    const types = (await agUiEvents(options(model))).map(({ type }) => type);
    const block = [
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
    ];
    expect(types.filter((type) => /REASONING|TEXT/.test(type))).to.deep.equal([
      ...block,
      ...block,
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
  });

  it("is omitted with `reasoning: false`, and for other agents", async () => {
    const step = { reasoning: ["secret"], text: "42" };
    const tasks = ["first", "last"].map(
      (role, n) =>
        new Task({
          description: role,
          agent: new Agent({
            ...{ role, goal: "g" },
            model: new ScriptedModel([n === 0 ? step : { ...step, reasoning: ["open"] }]),
          }),
        }),
    );
    const parts = JSON.stringify(await uiParts({ tasks }));
    expect(parts).to.contain("open").and.not.contain("secret");
    expect(
      spoken(await uiParts(options(new ScriptedModel([step])), { reasoning: false })),
    ).to.deep.equal(["text-start t0", "text-delta t0 42", "text-end t0"]);
  });

  it("ends when a call breaks off, and begins again with the next attempt", async () => {
    const whole = chunked([thought(0, "again"), text("42")]);
    let calls = 0;
    const model: ChatModel = {
      ...whole,
      async *stream(request, o) {
        if (++calls === 1) {
          yield thought(0, "half a thou");
          throw new ModelCallError("cut", { provider: "p", modelId: "m", retryable: true });
        }
        yield* whole.stream?.(request, o) ?? [];
      },
    };
    const plugins = [retry({ maxAttempts: 2, baseDelayMs: 1 })];
    expect(spoken(await uiParts({ ...options(model), plugins }))).to.deep.equal([
      ...["reasoning-start r0", "reasoning-delta r0 half a thou", "reasoning-end r0"],
      ...["reasoning-start r1", "reasoning-delta r1 again", "reasoning-end r1"],
      ...["text-start t0", "text-delta t0 42", "text-end t0"],
    ]);
  });

  const vendors = {
    anthropic: {
      start: () => AnthropicServer.start(),
      model: (baseURL: string) => anthropic("claude-x", { apiKey: "sk-ant-x", baseURL }),
      before: [
        messageStart(),
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "thinking", thinking: "" },
        },
        {
          type: "content_block_delta",
          index: 0,
          delta: { type: "thinking_delta", thinking: "Hm" },
        },
      ],
      after: [
        { type: "content_block_stop", index: 0 },
        ...textEvents(1, ["42"]),
        ...messageEnd("end_turn"),
      ],
    },
    "openai chat": {
      start: () => OpenAIServer.start(),
      model: (baseURL: string) => openai("local", { apiKey: "sk-x", baseURL }),
      before: [{ choices: [{ index: 0, delta: { reasoning_content: "Hm" } }] }],
      after: [{ choices: [{ index: 0, delta: { content: "42" }, finish_reason: "stop" }] }],
    },
    "openai responses": {
      start: () => OpenAIServer.startResponses(),
      model: (baseURL: string) =>
        openai("gpt-5", { apiKey: "sk-x", baseURL, api: "responses" as const }),
      before: [
        {
          ...{ type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0 },
          delta: "Hm",
        },
      ],
      after: [
        { type: "response.output_text.delta", output_index: 1, delta: "42" },
        {
          type: "response.completed",
          response: {
            ...{ id: "r1", status: "completed" },
            output: [
              { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
              { type: "message", content: [{ type: "output_text", text: "42" }] },
            ],
          },
        },
      ],
    },
  };
  for (const [vendor, { start, model, before, after }] of Object.entries(vendors))
    it(`is visible before the vendor has sent the remaining answer: ${vendor}`, async () => {
      const server = await start();
      let goOn: () => void = () => undefined;
      const isRead = new Promise<void>((resolve) => (goOn = resolve));
      server.reply({
        kind: "custom",
        run(response): void {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write(before.map((event) => eventText(event)).join(""));
          void isRead.then(() => response.end(after.map((event) => eventText(event)).join("")));
        },
      });
      try {
        const parts: UIChunk[] = [];
        for await (const part of toUIMessageStream(started(options(model(server.url))))) {
          parts.push(part);
          if (part.type === "reasoning-delta") goOn();
        }
        await checkUiParts(parts);
        expect(spoken(parts)).to.deep.equal([
          ...["reasoning-start r0", "reasoning-delta r0 Hm", "reasoning-end r0"],
          ...["text-start t0", "text-delta t0 42", "text-end t0"],
        ]);
      } finally {
        goOn();
        await server.close();
      }
    });
});
