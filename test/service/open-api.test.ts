import { Validator } from "@cfworker/json-schema";
import { expect } from "chai";
import { z } from "zod";
import { Ensemble, Task, tool } from "../../src/index.js";
import { handlerTask } from "./support.js";

const TOKEN = "a-token-of-the-shop";
const stock = tool({
  name: "stock",
  description: "Returns the stock",
  input: z.object({ item: z.string() }),
  execute: ({ item }) => item,
});

function kitchen(): Ensemble {
  return new Ensemble({
    name: "kitchen",
    model: "offline:extractive",
    shareTasks: {
      cook: Task.of("Cook {context}"),
      serve: Task.of("Serve {dish}"),
      count: handlerTask(() => 1),
    },
    shareTools: { stock },
  });
}

async function documentOf(url: string | undefined, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url ?? ""}/api/openapi.json`, { headers });
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, body };
}

describe("the OpenAPI document of a service", () => {
  it("accepts the requests that the service accepts, and its answers", async () => {
    await using ensemble = kitchen();
    await using service = await ensemble.start({ port: 0, signals: false });
    const { body } = await documentOf(service.url);
    const valid = (name: string, value: unknown): boolean =>
      new Validator({ ...body, $ref: `#/components/schemas/${name}` }).validate(value).valid;
    const post = async (request: unknown) => {
      const answer = await fetch(`${service.url ?? ""}/api/work`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      return {
        status: answer.status,
        body: (await answer.json()) as { readonly requestId: string },
      };
    };
    for (const request of [
      { task: "cook", context: "soup" },
      { task: "serve", inputs: { dish: "soup" }, priority: "HIGH", deadlineMs: 5_000 },
      {
        task: "count",
        cache: { policy: "USE_CACHED", key: "k", maxAgeMs: 5 },
        budget: { maxTokens: 5 },
      },
      { task: "stock", inputs: { item: "eggs" }, delivery: { method: "NONE" } },
    ]) {
      expect(valid("Request", request), JSON.stringify(request)).to.equal(true);
      const receipt = await post(request);
      expect([receipt.status, valid("Receipt", receipt.body)]).to.deep.equal([202, true]);
      const path = `/api/work/${receipt.body.requestId}?waitMs=20000`;
      const result: unknown = await (await fetch(`${service.url ?? ""}${path}`)).json();
      expect(valid("Response", result), JSON.stringify(result)).to.equal(true);
    }
    for (const request of [
      { task: "bake" },
      { task: "count", priorty: "HIGH" },
      { task: "count", priority: "URGENT" },
      { task: "count", delivery: { method: "WEBHOOK", address: "https://a.example" } },
    ]) {
      expect(valid("Request", request), JSON.stringify(request)).to.equal(false);
      const refusal = await post(request);
      expect(refusal.status).to.be.oneOf([400, 404]);
      expect(valid("Refusal", refusal.body)).to.equal(true);
    }
    expect(valid("Request", { task: "stock" })).to.equal(false);
    expect(valid("Request", { task: "cook" })).to.equal(false);
  });

  it("names the URL and the token, and has the same access control as the agent card", async () => {
    await using ensemble = kitchen();
    const callers = { shop: TOKEN };
    await using service = await ensemble.start({ port: 0, signals: false, callers });
    const { body } = await documentOf(service.url);
    expect(body["servers"]).to.deep.equal([{ url: service.url }]);
    expect(body["security"]).to.deep.equal([{ bearer: [] }]);
    expect(body["openapi"]).to.equal("3.1.0");
    await service.stop();
    await using hidden = await ensemble.start({
      port: 0,
      signals: false,
      callers,
      card: "private",
    });
    expect((await documentOf(hidden.url)).status).to.equal(401);
    expect((await documentOf(hidden.url, TOKEN)).status).to.equal(200);
  });
});
