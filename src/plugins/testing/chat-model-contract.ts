import assert from "node:assert/strict";
import type {
  ChatChunk,
  ChatModel,
  ChatRequest,
  ChatResponse,
  FinishReason,
  ToolCall,
} from "../../contracts/chat-model.js";
import { ModelCallError } from "../../contracts/errors.js";
import { checkOptions } from "../../contracts/validation.js";
import { sleep, withTimeout } from "../../util/abort/timeouts.js";
import type {
  ChatModelContractOptions,
  ChatModelContractSupport,
  ChatModelScenario,
  ChatModelUnderTest,
} from "./chat-model-scenario.js";

/** Time in milliseconds after an abort in which a call must end. */
const ABORT_LIMIT_MS = 300;
/** Time in milliseconds in which a request reaches its server before it is aborted. */
const UNDER_WAY_MS = 50;
const UNICODE = 'Grüße, 世界 👩‍👩‍👧 \u2028 "quoted" \\ back\nslash';
const HELLO: ChatRequest = { messages: [{ role: "user", content: "Say hello" }] };
const CALLS: readonly ToolCall[] = [
  { id: "call_a", name: "look_up", arguments: '{"city":"Zürich"}' },
  { id: "call_b", name: "add", arguments: '{"numbers":[1,2,3]}' },
];
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const WITH_TOOLS: ChatRequest = {
  messages: [{ role: "user", content: "What is the weather?" }],
  tools: [
    { name: "look_up", description: "Looks up the weather of a city", parameters: PARAMETERS },
    { name: "add", description: "Adds numbers", parameters: { type: "object", properties: {} } },
  ],
};
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

type TestAnswer = Extract<ChatModelScenario, { readonly kind: "answer" }>;
type Use = <T>(
  scenario: ChatModelScenario,
  body: (subject: ChatModelUnderTest) => Promise<T>,
) => Promise<T>;

/** A model under test with `stream`. */
interface StreamingModel extends ChatModel {
  stream: NonNullable<ChatModel["stream"]>;
}

function textAnswer(text: string, o: Partial<Omit<TestAnswer, "kind" | "text">> = {}): TestAnswer {
  return { kind: "answer", text, ...o };
}

function assertSent(subject: ChatModelUnderTest, ...texts: readonly string[]): void {
  if (subject.lastRequest === undefined) return;
  const sent = JSON.stringify(subject.lastRequest());
  for (const text of texts)
    assert.ok(sent.includes(text), `the request must contain ${text}, but was ${sent}`);
}

function streaming(model: ChatModel): StreamingModel {
  assert.equal(
    typeof model.stream,
    "function",
    "the model must have stream(); declare supports: { streaming: false } if it cannot",
  );
  return model as StreamingModel; // asserted above
}

async function collect(chunks: AsyncIterable<ChatChunk>): Promise<readonly ChatChunk[]> {
  const all: ChatChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

function finalResponse(chunks: readonly ChatChunk[]): ChatResponse {
  const last = chunks.at(-1);
  if (last?.type !== "finish")
    return assert.fail(`the last chunk must be 'finish', was ${String(last?.type)}`);
  assert.equal(chunks.filter((chunk) => chunk.type === "finish").length, 1);
  return last.response;
}

/** Assembles the tool calls from the chunks only. */
function assembleCalls(chunks: readonly ChatChunk[]): readonly ToolCall[] {
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const chunk of chunks) {
    if (chunk.type !== "tool_call") continue;
    const call = (calls[chunk.index] ??= { id: "", name: "", arguments: "" });
    call.id += chunk.id ?? "";
    call.name += chunk.name ?? "";
    call.arguments += chunk.argumentsDelta ?? "";
  }
  return calls;
}

async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  return assert.fail("the call must be rejected, but was answered");
}

/** Aborts a call in progress and checks that it ends at once, with the reason of the signal. */
async function assertAborts(
  start: (signal: AbortSignal) => Promise<unknown>,
  delayMs: number,
): Promise<void> {
  const controller = new AbortController();
  const reason = new Error("enough");
  const outcome = rejection(start(controller.signal));
  outcome.catch(() => undefined); // it may fail before it is awaited below
  await sleep(delayMs);
  controller.abort(reason);
  const ended = await withTimeout(() => outcome, { ms: ABORT_LIMIT_MS, late: () => "late" });
  assert.equal(ended, reason);
}

function sameCalls(actual: readonly ToolCall[] | undefined, expected: readonly ToolCall[]): void {
  const plain = (calls: readonly ToolCall[]): unknown =>
    calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: JSON.parse(call.arguments) as unknown,
    }));
  assert.deepEqual(plain(actual ?? []), plain(expected));
}

function textSuite(use: Use): void {
  it("passes its own check, if it has one", () =>
    use(textAnswer("Hello"), async ({ model }) => model.check?.()));

  it("returns the text", () =>
    use(textAnswer("Hello"), async (subject) => {
      const response = await subject.model.chat(HELLO);
      assert.equal(response.message.role, "assistant");
      assert.equal(response.message.content, "Hello");
      assert.equal(response.finishReason, "stop");
      assert.equal((response.message.toolCalls ?? []).length, 0);
      assertSent(subject, "Say hello");
    }));
  it("keeps Unicode, quotes and line breaks in both directions", () =>
    use(textAnswer(UNICODE), async (subject) => {
      const response = await subject.model.chat({
        messages: [
          { role: "system", content: "Répète" },
          { role: "user", content: UNICODE },
        ],
      });
      assert.equal(response.message.content, UNICODE);
      assertSent(subject, "Répète", JSON.stringify(UNICODE).slice(1, -1));
    }));
  it("accepts an answer without text", () =>
    use(textAnswer(""), async ({ model }) => {
      assert.equal((await model.chat(HELLO)).message.content, "");
    }));
  for (const finishReason of ["stop", "length", "content_filter"] satisfies FinishReason[]) {
    it(`reports the finish reason '${finishReason}'`, () =>
      use(textAnswer("cut", { finishReason }), async ({ model }) => {
        assert.equal((await model.chat(HELLO)).finishReason, finishReason);
      }));
  }
}

function usageSuite(use: Use, supports: ChatModelContractSupport): void {
  it("reports the usage", () =>
    use(textAnswer("Hello", { usage: { inputTokens: 11, outputTokens: 7 } }), async ({ model }) => {
      const { usage } = await model.chat(HELLO);
      assert.equal(usage?.inputTokens, 11);
      assert.equal(usage?.outputTokens, 7);
    }));
  if (supports.missingUsage === false) return;
  it("omits the usage if none was reported", () =>
    use(textAnswer("Hello"), async ({ model }) => {
      const { usage } = await model.chat(HELLO);
      assert.equal(usage?.inputTokens, undefined);
      assert.equal(usage?.outputTokens, undefined);
    }));
}

function toolSuite(use: Use): void {
  it("sends the tools and returns the call", () =>
    use(textAnswer("", { toolCalls: CALLS.slice(0, 1) }), async (subject) => {
      const response = await subject.model.chat(WITH_TOOLS);
      sameCalls(response.message.toolCalls, CALLS.slice(0, 1));
      assert.equal(response.finishReason, "tool_calls");
      assertSent(subject, "look_up", "Looks up the weather of a city", '"required":["city"]');
    }));
  it("returns several calls of one turn in order", () =>
    use(textAnswer("", { toolCalls: CALLS }), async ({ model }) => {
      sameCalls((await model.chat(WITH_TOOLS)).message.toolCalls, CALLS);
    }));
  it("sends calls and their results back", () =>
    use(textAnswer("Sunny"), async (subject) => {
      const messages: ChatRequest["messages"] = [
        ...WITH_TOOLS.messages,
        { role: "assistant", content: "", toolCalls: CALLS },
        {
          role: "tool",
          toolCallId: "call_a",
          toolName: "look_up",
          content: "sunny and 21 degrees",
        },
        { role: "tool", toolCallId: "call_b", toolName: "add", content: "6", isError: false },
      ];
      assert.equal(
        (await subject.model.chat({ ...WITH_TOOLS, messages })).message.content,
        "Sunny",
      );
      assertSent(subject, "call_a", "call_b", "sunny and 21 degrees");
    }));
}

function streamSuite(use: Use): void {
  it("streams the same text as the complete answer", () =>
    use(textAnswer(UNICODE, { usage: { inputTokens: 3, outputTokens: 4 } }), async ({ model }) => {
      const chunks = await collect(streaming(model).stream(HELLO));
      const response = finalResponse(chunks);
      assert.equal(
        chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join(""),
        UNICODE,
      );
      assert.equal(response.message.content, UNICODE);
      assert.equal(response.finishReason, "stop");
      assert.equal(response.usage?.inputTokens, 3);
      assert.equal(response.usage?.outputTokens, 4);
    }));
  it("streams the same tool calls as the complete answer", () =>
    use(textAnswer("", { toolCalls: CALLS }), async ({ model }) => {
      const chunks = await collect(streaming(model).stream(WITH_TOOLS));
      const response = finalResponse(chunks);
      assert.deepEqual(assembleCalls(chunks), response.message.toolCalls);
      assert.ok(
        chunks.some(
          (chunk) =>
            chunk.type === "tool_call" &&
            chunk.argumentsDelta !== undefined &&
            chunk.argumentsDelta !== "",
        ),
      );
      sameCalls(response.message.toolCalls, CALLS);
      assert.equal(response.finishReason, "tool_calls");
    }));
  it("rejects a stream with the same error as a call", () =>
    use({ kind: "error", status: 503, message: "overloaded" }, async ({ model }) => {
      const error = await rejection(collect(streaming(model).stream(HELLO)));
      assert.ok(ModelCallError.isInstance(error));
      assert.equal(error.retryable, true);
    }));
}

function requestSuite(use: Use, supports: ChatModelContractSupport): void {
  if (supports.structuredOutput !== false) {
    it("requests JSON that matches a schema", () =>
      use(textAnswer('{"city":"Bern"}'), async (subject) => {
        assert.equal(subject.model.capabilities?.structuredOutput, true);
        const response = await subject.model.chat({
          ...HELLO,
          responseFormat: { name: "place", schema: PARAMETERS },
        });
        assert.deepEqual(JSON.parse(response.message.content), { city: "Bern" });
        assertSent(subject, '"additionalProperties":false', "city");
      }));
  }
  if (supports.images === false) return;
  it("sends images next to text", () =>
    use(textAnswer("A pixel"), async (subject) => {
      const content = [
        { type: "text", text: "What is this?" },
        { type: "image", data: PIXEL, mediaType: "image/png" },
      ] as const;
      assert.equal(
        (await subject.model.chat({ messages: [{ role: "user", content }] })).message.content,
        "A pixel",
      );
      assertSent(subject, "What is this?", PIXEL.slice(0, 20), "image/png");
    }));
  it("sends images by their URL", () =>
    use(textAnswer("A pixel"), async (subject) => {
      const content = [
        { type: "image", data: new URL("https://images.example/pixel.png") },
      ] as const;
      await subject.model.chat({ messages: [{ role: "user", content }] });
      assertSent(subject, "https://images.example/pixel.png");
    }));
}

function failureSuite(use: Use): void {
  const cases = [
    { status: 400, retryable: false },
    { status: 401, retryable: false },
    { status: 429, retryable: true },
    { status: 503, retryable: true },
  ] as const;
  for (const { status, retryable } of cases) {
    it(`rejects status ${status} with a ModelCallError that is ${retryable ? "" : "not "}worth a retry`, () =>
      use({ kind: "error", status, message: "the service refuses" }, async ({ model }) => {
        const error = await rejection(model.chat(HELLO));
        assert.ok(
          ModelCallError.isInstance(error),
          `expected a ModelCallError, got ${String(error)}`,
        );
        assert.equal(error.status, status);
        assert.equal(error.retryable, retryable);
        assert.equal(error.provider, model.provider);
        assert.equal(error.modelId, model.modelId);
      }));
  }
}

function abortSuite(use: Use, supports: ChatModelContractSupport): void {
  it("rejects with the signal's reason when aborted before the call", () =>
    use(textAnswer("Hello"), async ({ model }) => {
      const reason = new Error("too late");
      assert.equal(
        await rejection(model.chat(HELLO, { signal: AbortSignal.abort(reason) })),
        reason,
      );
    }));
  if (supports.hang !== false) {
    it("ends immediately when aborted right after the call", () =>
      use({ kind: "hang" }, ({ model }) =>
        assertAborts((signal) => model.chat(HELLO, { signal }), 0),
      ));
    it("ends immediately when aborted while waiting", () =>
      use({ kind: "hang" }, ({ model }) =>
        assertAborts((signal) => model.chat(HELLO, { signal }), UNDER_WAY_MS),
      ));
  }
  if (supports.streaming === false) return;
  it("rejects a stream with the signal's reason when aborted before the stream", () =>
    use(textAnswer("Hello"), async ({ model }) => {
      const reason = new Error("too late");
      assert.equal(
        await rejection(
          collect(streaming(model).stream(HELLO, { signal: AbortSignal.abort(reason) })),
        ),
        reason,
      );
    }));
  if (supports.hang !== false) {
    it("ends immediately when aborted before a stream begins", () =>
      use({ kind: "hang" }, ({ model }) =>
        assertAborts((signal) => collect(streaming(model).stream(HELLO, { signal })), UNDER_WAY_MS),
      ));
  }
  if (supports.stall === false) return;
  it("ends immediately when aborted during a stream", () =>
    use({ kind: "stall", text: "Once upon a time" }, ({ model }) =>
      assertAborts((signal) => collect(streaming(model).stream(HELLO, { signal })), UNDER_WAY_MS),
    ));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every chat model should
 * pass. `create` is called once per test with the scenario of the service behind the model.
 *
 * @example
 * chatModelContract("mine", { create: (scenario) => startServer(scenario) });
 * @throws ValidationError for an unknown option.
 */
export function chatModelContract(name: string, options: ChatModelContractOptions): void {
  checkOptions("chatModelContract()", options, ["create", "supports"]);
  const supports = options.supports ?? {};
  checkOptions("chatModelContract() supports", supports, [
    "streaming",
    "structuredOutput",
    "images",
    "missingUsage",
    "hang",
    "stall",
  ]);
  const use: Use = async (scenario, body) => {
    const subject = await options.create(scenario);
    try {
      return await body(subject);
    } finally {
      await subject.close();
    }
  };
  describe(`chat model contract: ${name}`, () => {
    describe("text", () => textSuite(use));
    describe("usage", () => usageSuite(use, supports));
    describe("tools", () => toolSuite(use));
    if (supports.streaming !== false) describe("streaming", () => streamSuite(use));
    if (supports.structuredOutput !== false || supports.images !== false)
      describe("requests", () => requestSuite(use, supports));
    describe("failures", () => failureSuite(use));
    describe("aborting", () => abortSuite(use, supports));
  });
}
