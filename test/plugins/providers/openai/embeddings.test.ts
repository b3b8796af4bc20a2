import { expect } from "chai";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import {
  openaiEmbeddings,
  type OpenAIEmbeddingsOptions,
} from "../../../../src/plugins/providers/openai/index.js";
import type { RecordedRequest, Reply } from "../../../support/model-server.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { rejectionOf } from "../../../support/rejection.js";

/** Answers with vectors that identify their text, in the opposite order. */
function vectors({ body }: RecordedRequest): Reply {
  const input = body["input"] as readonly string[]; // as the client sends it
  const data = input
    .map((text, index) => ({ object: "embedding", index, embedding: [Number(text), 0.5] }))
    .reverse();
  return { kind: "raw", body: JSON.stringify({ object: "list", data }) };
}

describe("openaiEmbeddings()", () => {
  let server: OpenAIServer;
  beforeEach(async () => (server = await OpenAIServer.start(vectors)));
  afterEach(() => server.close());

  const make = (options: OpenAIEmbeddingsOptions = {}): ReturnType<typeof openaiEmbeddings> =>
    openaiEmbeddings("text-embedding-3-small", {
      apiKey: "sk-test-0123456789",
      baseURL: server.url,
      ...options,
    });

  it("returns one vector for each text, in their order", async () => {
    expect(await make().embed(["1", "2", "3"])).to.deep.equal([
      [1, 0.5],
      [2, 0.5],
      [3, 0.5],
    ]);
    expect(server.requests[0]?.path).to.equal("/v1/embeddings");
    expect(server.requests[0]?.body).to.deep.equal({
      model: "text-embedding-3-small",
      input: ["1", "2", "3"],
      encoding_format: "float",
    });
  });

  it("sends many texts in several requests and keeps their order", async () => {
    const texts = Array.from({ length: 300 }, (_, index) => String(index));
    expect((await make().embed(texts)).map(([first]) => first)).to.deep.equal(texts.map(Number));
    expect(
      server.requests.map(({ body }) => (body["input"] as readonly string[]).length),
    ).to.deep.equal([128, 128, 44]); // as the client sends it
    await make({ batchSize: 2048 }).embed(texts);
    expect(server.requests).to.have.lengthOf(4);
  });

  it("sends no request for an empty list of texts", async () => {
    expect(await make().embed([])).to.deep.equal([]);
    expect(server.requests).to.deep.equal([]);
  });

  it("requests vectors of the configured length", async () => {
    await make({ dimensions: 256 }).embed(["1"]);
    expect(server.requests[0]?.body).to.include({ dimensions: 256 });
  });

  for (const [what, data] of [
    ["too few vectors", [{ index: 0, embedding: [1] }]],
    ["two vectors for one text", [0, 0].map((index) => ({ index, embedding: [1] }))],
    ["a vector without a text", [0, 7].map((index) => ({ index, embedding: [1] }))],
    ["a vector that is a text", [0, 1].map((index) => ({ index, embedding: "AAAA" }))],
    ["an empty vector", [0, 1].map((index) => ({ index, embedding: [] }))],
    ["a value that is not a list", undefined],
  ] as const) {
    it(`refuses an answer with ${what}`, async () => {
      server.reply({ kind: "raw", body: JSON.stringify({ data }) });
      const e = await rejectionOf(ModelCallError, make().embed(["1", "2"]));
      expect([e.code, e.retryable, e.modelId]).to.deep.equal([
        "AE_MODEL_BAD_RESPONSE",
        true,
        "text-embedding-3-small",
      ]);
    });
  }

  it("reports refusals of the service", async () => {
    server.reply({
      kind: "status",
      status: 429,
      body: { error: { message: "slow down" } },
      headers: { "retry-after": "3" },
    });
    const e = await rejectionOf(ModelCallError, make().embed(["1"]));
    expect([e.code, e.retryAfterMs]).to.deep.equal(["AE_MODEL_RATE_LIMITED", 3000]);
  });

  it("refuses invalid options and texts", async () => {
    for (const options of [
      { dimensions: 0 },
      { batchSize: 2049 },
      { batchSize: 0 },
      { api: "chat" },
    ]) {
      expect(() => make(options), JSON.stringify(options)).to.throw(ValidationError);
    }
    expect(() => openaiEmbeddings(" ")).to.throw(ValidationError);
    await rejectionOf(ValidationError, make().embed("text" as unknown as readonly string[]));
    await rejectionOf(ValidationError, make().embed([7 as unknown as string]));
  });
});
