import { expect } from "chai";
import type { ServerResponse } from "node:http";
import { z } from "zod";
import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ContentPart,
  EnsembleOutput,
} from "agentensemble";
import {
  Agent,
  attachment,
  Ensemble,
  ModelCallError,
  Task,
  TaskExecutionError,
  ValidationError,
} from "agentensemble";
import { fallback } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { aiSdk } from "../../../src/plugins/providers/ai-sdk/index.js";
import { anthropic } from "../../../src/plugins/providers/anthropic/index.js";
import { openai } from "../../../src/plugins/providers/openai/index.js";
import { AnthropicServer } from "../../support/anthropic-server.js";
import { chunksOf } from "../../support/collect.js";
import type { ModelServer, RecordedRequest, Reply } from "../../support/model-server.js";
import { OpenAIServer } from "../../support/openai-server.js";
import { rejectionOf } from "../../support/rejection.js";

const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
const PNG = base64("\x89PNG\r\n\x1a\n");
const PDF = base64("%PDF-1.7 and more");
const WAV = base64("RIFF\x24\x00\x00\x00WAVEfmt ");
const MP3 = base64("ID3\x04 and more");
const CSV = base64("a,b");
const pdfType = "application/pdf";

const PARTS = {
  image: { type: "image", data: PNG, detail: "low" },
  "address of an image": { type: "image", data: "https://a.test/b.png" },
  PDF: { type: "file", data: PDF, mediaType: pdfType, name: "a.pdf" },
  "address of a PDF": {
    type: "file",
    data: "https://a.test/b.pdf",
    mediaType: pdfType,
    name: "b.pdf",
  },
  "text file": { type: "file", data: CSV, mediaType: "text/csv", name: "a.csv" },
  WAV: { type: "audio", data: WAV, mediaType: "audio/wav" },
  MP3: { type: "audio", data: MP3, mediaType: "audio/mpeg" },
} as const satisfies Readonly<Record<string, ContentPart>>;
type PartName = keyof typeof PARTS;

const text = z.strictObject({ type: z.literal("text"), text: z.string().min(1) });
const inputText = z.strictObject({ type: z.literal("input_text"), text: z.string().min(1) });
const digits = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);
const address = z.url({ protocol: /^https?$/ });
const imageUrl = address.or(
  z.string().regex(/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/),
);
const pdfUrl = z.string().regex(/^data:application\/pdf;base64,[A-Za-z0-9+/]+={0,2}$/);
const detail = z.enum(["auto", "low", "high"]);
const imageSource = z.union([
  z.strictObject({
    type: z.literal("base64"),
    media_type: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    data: digits,
  }),
  z.strictObject({ type: z.literal("url"), url: address }),
]);
const documentSource = z.union([
  z.strictObject({ type: z.literal("base64"), media_type: z.literal(pdfType), data: digits }),
  z.strictObject({ type: z.literal("url"), url: address }),
  z.strictObject({
    type: z.literal("text"),
    media_type: z.literal("text/plain"),
    data: z.string().min(1),
  }),
]);

/** The parts of a message that a vendor accepts or refuses. */
const FORMS = {
  chat: z.union([
    text,
    z.strictObject({
      type: z.literal("image_url"),
      image_url: z.strictObject({ url: imageUrl, detail: detail.optional() }),
    }),
    z.strictObject({
      type: z.literal("file"),
      file: z.strictObject({ filename: z.string().min(1), file_data: pdfUrl }),
    }),
    z.strictObject({
      type: z.literal("input_audio"),
      input_audio: z.strictObject({ data: digits, format: z.enum(["wav", "mp3"]) }),
    }),
  ]),
  responses: z.union([
    inputText,
    z.strictObject({ type: z.literal("input_image"), image_url: imageUrl, detail }),
    z.strictObject({
      type: z.literal("input_file"),
      filename: z.string().min(1),
      file_data: pdfUrl,
    }),
    z.strictObject({ type: z.literal("input_file"), file_url: address }),
  ]),
  anthropic: z.union([
    text,
    z.strictObject({ type: z.literal("image"), source: imageSource }),
    z.strictObject({
      type: z.literal("document"),
      source: documentSource,
      title: z.string().optional(),
    }),
  ]),
} as const;

const refused = undefined;
type Fields = Readonly<Record<string, unknown>>;

/** Each vendor: the start of its servers, the place of parts in a request, and their forms. */
interface PartVendor {
  start(): Promise<ModelServer>;
  model(url: string): ChatModel;
  /** The parts of the last message or result that has any. */
  partsIn(body: Fields): readonly unknown[];
  readonly form: z.ZodType;
  /** The text before a part in the result of a tool. */
  readonly before: object;
  readonly expected: Readonly<Record<PartName, object | undefined>>;
}

const lastContent = (list: unknown): readonly unknown[] => {
  const content = (list as readonly Fields[]).at(-1)?.["content"];
  return Array.isArray(content) ? content : [];
};
const block = (source: object, title?: string): object => ({
  type: "document",
  source,
  ...(title !== undefined && { title }),
});

const VENDORS: Readonly<Record<string, PartVendor>> = {
  "OpenAI Chat": {
    start: () => OpenAIServer.start(),
    model: (baseURL) => openai("gpt-x", { apiKey: "k", baseURL }),
    partsIn: (body) => lastContent(body["messages"]),
    form: FORMS.chat,
    before: { type: "text", text: "Result of the tool scan:" },
    expected: {
      image: {
        type: "image_url",
        image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" },
      },
      "address of an image": { type: "image_url", image_url: { url: "https://a.test/b.png" } },
      PDF: {
        type: "file",
        file: { filename: "a.pdf", file_data: `data:${pdfType};base64,${PDF}` },
      },
      "address of a PDF": refused,
      "text file": { type: "text", text: "File a.csv:\n\na,b" },
      WAV: { type: "input_audio", input_audio: { data: WAV, format: "wav" } },
      MP3: { type: "input_audio", input_audio: { data: MP3, format: "mp3" } },
    },
  },
  "OpenAI Responses": {
    start: () => OpenAIServer.startResponses(),
    model: (baseURL) => openai("gpt-x", { apiKey: "k", baseURL, api: "responses" }),
    partsIn: (body) => {
      const last = (body["input"] as readonly Fields[]).at(-1);
      return last?.["type"] === "function_call_output"
        ? (last["output"] as readonly unknown[])
        : (last?.["content"] as readonly unknown[]);
    },
    form: FORMS.responses,
    before: { type: "input_text", text: "scanned" },
    expected: {
      image: { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "low" },
      "address of an image": {
        type: "input_image",
        image_url: "https://a.test/b.png",
        detail: "auto",
      },
      PDF: { type: "input_file", filename: "a.pdf", file_data: `data:${pdfType};base64,${PDF}` },
      "address of a PDF": { type: "input_file", file_url: "https://a.test/b.pdf" },
      "text file": { type: "input_text", text: "File a.csv:\n\na,b" },
      WAV: refused,
      MP3: refused,
    },
  },
  Anthropic: {
    start: () => AnthropicServer.start(),
    model: (baseURL) => anthropic("claude-x", { apiKey: "k", baseURL }),
    partsIn: (body) => {
      const content = lastContent(body["messages"]);
      const [first] = content as readonly Fields[];
      return first?.["type"] === "tool_result" ? (first["content"] as readonly unknown[]) : content;
    },
    form: FORMS.anthropic,
    before: { type: "text", text: "scanned" },
    expected: {
      image: { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      "address of an image": {
        type: "image",
        source: { type: "url", url: "https://a.test/b.png" },
      },
      PDF: block({ type: "base64", media_type: pdfType, data: PDF }, "a.pdf"),
      "address of a PDF": block({ type: "url", url: "https://a.test/b.pdf" }, "b.pdf"),
      "text file": block({ type: "text", media_type: "text/plain", data: "a,b" }, "a.csv"),
      WAV: refused,
      MP3: refused,
    },
  },
};

const question = (part: ContentPart): readonly ChatMessage[] => [
  { role: "user", content: [{ type: "text", text: "Look" }, part] },
];
const result = (part: ContentPart): readonly ChatMessage[] => [
  { role: "user", content: "Look" },
  { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "scan", arguments: "{}" }] },
  { role: "tool", toolCallId: "c1", toolName: "scan", content: "scanned", parts: [part] },
];
const TOOLS = [{ name: "scan", description: "Scans", parameters: { type: "object" } }] as const;

async function streamed(model: ChatModel, request: ChatRequest): Promise<ChatResponse> {
  const last = (await chunksOf(model, request)).at(-1);
  if (last?.type !== "finish") throw new Error("the stream did not finish");
  return last.response;
}

/** Answers only requests whose parts have the vendor's form. */
function strictly({ form, partsIn }: PartVendor): (request: RecordedRequest) => Reply {
  return ({ body }) => {
    const checked = z.array(form).min(1).safeParse(partsIn(body));
    return checked.success
      ? { kind: "answer", text: "seen" }
      : { kind: "status", status: 400, body: { error: { message: checked.error.message } } };
  };
}

/** Answers like `server`, a little later and in pieces of three bytes. */
function lateInPieces(server: ModelServer): (request: RecordedRequest) => Reply {
  return ({ body }) => ({
    kind: "custom",
    run(response: ServerResponse): void {
      void (async () => {
        const path =
          body["input"] !== undefined
            ? "/responses"
            : body["max_tokens"] !== undefined
              ? "/v1/messages"
              : "/chat/completions";
        const answer = await fetch(`${server.url}${path}`, {
          method: "POST",
          body: JSON.stringify(body),
        });
        const bytes = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status, {
          "content-type": answer.headers.get("content-type") ?? "",
        });
        for (let start = 0; start < bytes.length; start += 3) {
          response.write(bytes.subarray(start, start + 3));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      })();
    },
  });
}

for (const [name, vendor] of Object.entries(VENDORS))
  describe(`parts for ${name}`, () => {
    let strict: ModelServer;
    let late: ModelServer;
    before(async () => {
      [strict, late] = await Promise.all([vendor.start(), vendor.start()]);
      strict.reply(strictly(vendor));
      late.reply(lateInPieces(strict));
    });
    after(async () => void (await Promise.all([strict.close(), late.close()])));

    for (const partName of Object.keys(PARTS) as readonly PartName[])
      for (const [place, messages, before] of [
        ["a message of the user", question(PARTS[partName]), undefined],
        ["the result of a tool", result(PARTS[partName]), vendor.before],
      ] as const) {
        const wanted = vendor.expected[partName];
        const request: ChatRequest = { messages, tools: TOOLS };
        if (wanted === undefined) {
          it(`refuses ${partName} in ${place} before it sends anything`, async () => {
            const count = strict.requests.length;
            const model = vendor.model(strict.url);
            for (const call of [() => model.chat(request), () => streamed(model, request)]) {
              const error = await rejectionOf(ModelCallError, call());
              expect(error).to.include({ code: "AE_MODEL_UNSUPPORTED_INPUT", retryable: false });
            }
            expect(strict.requests.length).to.equal(count);
          });
          continue;
        }
        it(`sends ${partName} in ${place} in the vendor's form, plain and streamed`, async () => {
          const texts: string[] = [];
          for (const server of [strict, late]) {
            const model = vendor.model(server.url);
            texts.push((await model.chat(request)).message.content);
            texts.push((await streamed(model, request)).message.content);
            const parts = vendor.partsIn(server.requests.at(-1)?.body ?? {});
            expect(parts.at(-1)).to.deep.equal(wanted);
            if (before !== undefined) expect(parts[0]).to.deep.equal(before);
          }
          expect(texts).to.deep.equal(["seen", "seen", "seen", "seen"]);
        });
      }
  });

describe("parts of several results", () => {
  it("are sent after all results in OpenAI Chat, each after the name of its tool", async () => {
    const server = await OpenAIServer.start();
    try {
      server.reply({ kind: "answer", text: "seen" });
      const messages: readonly ChatMessage[] = [
        { role: "user", content: "Look" },
        {
          role: "assistant",
          content: "",
          toolCalls: ["c1", "c2", "c3"].map((id) => ({ id, name: "scan", arguments: "{}" })),
        },
        { role: "tool", toolCallId: "c1", toolName: "scan", content: "a", parts: [PARTS.image] },
        { role: "tool", toolCallId: "c2", toolName: "scan", content: "b" },
        { role: "tool", toolCallId: "c3", toolName: "copy", content: "c", parts: [PARTS.PDF] },
      ];
      await openai("gpt-x", { apiKey: "k", baseURL: server.url }).chat({ messages, tools: TOOLS });
      const sent = server.requests[0]?.body["messages"] as readonly Fields[];
      const roles = sent.map(({ role }) => role);
      expect(roles.slice(0, 5)).to.deep.equal(["user", "assistant", "tool", "tool", "tool"]);
      expect(new Set(roles.slice(5))).to.deep.equal(new Set(["user"]));
      expect(sent.slice(5).flatMap(({ content }) => content)).to.deep.equal([
        { type: "text", text: "Result of the tool scan:" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
        { type: "text", text: "Result of the tool copy:" },
        {
          type: "file",
          file: { filename: "a.pdf", file_data: `data:${pdfType};base64,${PDF}` },
        },
      ]);
    } finally {
      await server.close();
    }
  });
});

describe("parts for servers other than the vendor's", () => {
  for (const [name, { start }] of Object.entries(VENDORS))
    it(`are images only, unless the option \`parts\` says so: ${name}`, async () => {
      const server = await start();
      try {
        const make = name === "Anthropic" ? anthropic : openai;
        const options = {
          ...{ apiKey: "k", baseURL: server.url },
          ...(name.endsWith("Responses") && { api: "responses" as const }),
        };
        const run = (part: ContentPart, model: ChatModel): Promise<EnsembleOutput> => {
          server.reply({ kind: "answer", text: "seen" });
          const task = new Task({ description: "Look", attachments: [part] });
          return new Ensemble({ model, tasks: [task] }).run();
        };
        expect((await run(PARTS.image, make("m", options))).raw).to.equal("seen");
        for (const part of [PARTS.PDF, PARTS["address of a PDF"], PARTS["text file"], PARTS.WAV]) {
          const count = server.requests.length;
          const { message } = await rejectionOf(ValidationError, run(part, make("m", options)));
          expect(message).to.match(/does not accept /);
          expect(server.requests.length).to.equal(count);
        }
        const parts = { user: ["application/pdf"] };
        expect((await run(PARTS.PDF, make("m", { ...options, parts }))).raw).to.equal("seen");
        await rejectionOf(ValidationError, run(PARTS.image, make("m", { ...options, parts })));
      } finally {
        await server.close();
      }
    });
});

describe("parts for the AI SDK", () => {
  /** The prompt that a model of a specification receives, plain and streamed. */
  async function promptOf(
    version: "v2" | "v3" | "v4",
    messages: readonly ChatMessage[],
  ): Promise<readonly Fields[]> {
    const prompts: (readonly Fields[])[] = [];
    const reason = version === "v2" ? "stop" : { unified: "stop", raw: "stop" };
    const usage = version === "v2" ? {} : { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const model = aiSdk({
      specificationVersion: version,
      provider: "hand.made",
      modelId: "m",
      doGenerate: (o: { readonly prompt: readonly Fields[] }) => {
        prompts.push(o.prompt);
        return Promise.resolve({
          content: [{ type: "text", text: "seen" }],
          finishReason: reason,
          usage,
        });
      },
      doStream: (o: { readonly prompt: readonly Fields[] }) => {
        prompts.push(o.prompt);
        const stream = new ReadableStream({
          start(controller) {
            for (const part of [
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: "seen" },
              { type: "finish", finishReason: reason, usage },
            ])
              controller.enqueue(part);
            controller.close();
          },
        });
        return Promise.resolve({ stream });
      },
    }); // as far as it is called here
    expect((await model.chat({ messages })).message.content).to.equal("seen");
    expect((await streamed(model, { messages })).message.content).to.equal("seen");
    expect(prompts[1]).to.deep.equal(prompts[0]);
    return prompts[0] ?? [];
  }
  const contentIn = (prompt: readonly Fields[]): Fields =>
    ((prompt.at(-1)?.["content"] ?? []) as readonly Fields[]).at(-1) ?? {};
  const outputIn = (prompt: readonly Fields[]): readonly Fields[] =>
    (contentIn(prompt)["output"] as { readonly value: readonly Fields[] }).value;
  const url = (href: string): URL => new URL(href);

  for (const [partName, data, mediaType, filename] of [
    ["image", PNG, "image/png", undefined],
    ["address of an image", url("https://a.test/b.png"), "image/*", undefined],
    ["PDF", PDF, pdfType, "a.pdf"],
    ["address of a PDF", url("https://a.test/b.pdf"), pdfType, "b.pdf"],
    ["text file", CSV, "text/csv", "a.csv"],
    ["WAV", WAV, "audio/wav", undefined],
    ["MP3", MP3, "audio/mpeg", undefined],
  ] as const) {
    const named = filename === undefined ? {} : { filename };
    const tagged = data instanceof URL ? { type: "url", url: data } : { type: "data", data };
    it(`are files in messages of the user: ${partName}`, async () => {
      for (const version of ["v2", "v3"] as const)
        expect(contentIn(await promptOf(version, question(PARTS[partName])))).to.deep.equal({
          ...{ type: "file", data, mediaType },
          ...named,
        });
      expect(contentIn(await promptOf("v4", question(PARTS[partName])))).to.deep.equal({
        ...{ type: "file", data: tagged, mediaType },
        ...named,
      });
    });

    it(`are content of results of tools: ${partName}`, async () => {
      const v3 = outputIn(await promptOf("v3", result(PARTS[partName])));
      const isImage = PARTS[partName].type === "image";
      expect(v3).to.deep.equal([
        { type: "text", text: "scanned" },
        data instanceof URL
          ? { type: isImage ? "image-url" : "file-url", url: data.href }
          : isImage
            ? { type: "image-data", data, mediaType }
            : { type: "file-data", data, mediaType, ...named },
      ]);
      expect(outputIn(await promptOf("v4", result(PARTS[partName])))[1]).to.deep.equal({
        ...{ type: "file", data: tagged, mediaType },
        ...named,
      });
      if (data instanceof URL)
        expect(
          await rejectionOf(ModelCallError, promptOf("v2", result(PARTS[partName]))),
        ).to.have.property("code", "AE_MODEL_UNSUPPORTED_INPUT");
      else
        expect(outputIn(await promptOf("v2", result(PARTS[partName])))[1]).to.deep.equal({
          ...{ type: "media", data, mediaType },
        });
    });
  }

  it("reach the server of a real provider", async () => {
    const server = await OpenAIServer.start();
    try {
      const provider = createOpenAICompatible({ name: "house", baseURL: server.url, apiKey: "k" });
      const model = aiSdk(provider("m"));
      await model.chat({ messages: question(PARTS.image) });
      expect(lastContent(server.requests[0]?.body["messages"])[1]).to.deep.equal({
        type: "image_url",
        image_url: { url: `data:image/png;base64,${PNG}` },
      });
    } finally {
      await server.close();
    }
  });
});

describe("a file that the vendor refuses", () => {
  const KEY = "sk-parts-0123456789abcdef";
  const content = Buffer.from(Array.from({ length: 400 }, (_, i) => (i * 37) % 256));
  const picture = attachment.fromBytes(Buffer.concat([Buffer.from(PNG, "base64"), content]));

  for (const [name, { start }] of Object.entries(VENDORS))
    it(`fails without its content and without the key, and continues with a fallback: ${name}`, async () => {
      const server = await start();
      const data = String(picture.data);
      server.reply({
        kind: "status",
        status: 400,
        body: {
          error: { message: `Invalid image data:image/png;base64,${data} (${data}) for ${KEY}` },
        },
      });
      try {
        const o = { apiKey: KEY, baseURL: server.url };
        const model =
          name === "Anthropic"
            ? anthropic("claude-x", o)
            : openai("gpt-x", { ...o, api: name.endsWith("Chat") ? "chat" : "responses" });
        const agent = new Agent({ role: "Reader", goal: "Reads" });
        const task = new Task({ description: "Look", agent, attachments: [picture] });
        const failed = await rejectionOf(
          TaskExecutionError,
          new Ensemble({ model, tasks: [task] }).run(),
        );
        const error = ModelCallError.find(failed);
        expect(error).to.include({ code: "AE_MODEL_BAD_REQUEST", status: 400, retryable: false });
        expect(error?.message).to.include("Invalid image [data] ([data]) for [redacted]");
        expect(JSON.stringify(failed.output?.trace)).to.not.include(data.slice(20, 60));
        const output = await new Ensemble({
          model,
          tasks: [task],
          plugins: [fallback([new ScriptedModel(["a picture"])])],
        }).run();
        expect(output.raw).to.equal("a picture");
        const plain = new Task({ description: "Look", agent });
        const refusedText = new Ensemble({
          model,
          tasks: [plain],
          plugins: [fallback([new ScriptedModel(["not asked"])])],
        }).run();
        expect(
          ModelCallError.find(await rejectionOf(TaskExecutionError, refusedText)),
        ).to.have.property("status", 400);
      } finally {
        await server.close();
      }
    });
});
