import { expect } from "chai";
import type { NetworkBackend as Backend, Service, StartOptions } from "../../src/index.js";
import { Ensemble, Task, ValidationError } from "../../src/index.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { storedIdOf } from "../../src/plugins/network/shared/stored-ids.js";
import {
  LocalBudgetAccount,
  LocalBudgetAccounts,
} from "../../src/plugins/resilience/budget/local-accounts.js";
import { prometheus } from "../../src/plugins/observability/prometheus/index.js";
import { ScriptedModel } from "../../src/plugins/testing/index.js";
import { CallerQuotas } from "../../src/service/quotas/caller-quotas.js";
import { plainClient, taskIn, textRequest } from "../plugins/network/a2a/plain-client.js";
import { rejectionOf } from "../support/rejection.js";
import { SteppingClock } from "./stepping-clock.js";
import { ask, eventLog, requests } from "./support.js";

const SHOP = "a-token-of-the-shop";
const HOTEL = "a-token-of-the-hotel";
const HOUR = 3_600_000;
const USAGE = { inputTokens: 60, outputTokens: 40 };

/** A kitchen whose runs use 100 tokens, at a cost of 1. */
function kitchen(): { readonly ensemble: Ensemble; readonly metrics: () => Promise<string> } {
  const plugin = prometheus();
  const ensemble = new Ensemble({
    name: "kitchen",
    model: new ScriptedModel([{ text: "soup", usage: USAGE }], { onExhausted: "repeat-last" }),
    costConfiguration: { inputTokenRate: 0.01, outputTokenRate: 0.01, currency: "EUR" },
    shareTasks: { cook: Task.of("Cook {context}") },
    plugins: [plugin],
  });
  return { ensemble, metrics: plugin.metrics };
}

async function served(ensemble: Ensemble, start: Partial<StartOptions>): Promise<Service> {
  const callers = { shop: SHOP, hotel: HOTEL };
  return ensemble.start({ port: 0, signals: false, callers, ...start });
}

interface Asked {
  readonly token?: string;
  readonly key?: string;
}

async function post(service: Service, { token = SHOP, key }: Asked = {}) {
  const answer = await fetch(`${service.url ?? ""}/api/work`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      ...(key !== undefined && { "idempotency-key": key }),
    },
    body: JSON.stringify({ task: "cook", context: "soup" }),
  });
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, body, retryAfter: answer.headers.get("retry-after") };
}

async function get(service: Service, path: string, token = SHOP) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${service.url ?? ""}${path}`, { headers });
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

/** Sends a request and waits for its result. */
async function cooked(service: Service, asked: Asked = {}) {
  const { body } = await post(service, asked);
  return get(service, `/api/work/${String(body["requestId"])}?waitMs=30000`, asked.token);
}

describe("the quota of a caller", () => {
  it("limits its requests in a window, and those of no other caller", async () => {
    await using one = kitchen().ensemble;
    const service = await served(one, { quota: { windowMs: HOUR * 24_000, maxRequests: 2 } });
    expect((await post(service)).status).to.equal(202);
    expect((await post(service)).status).to.equal(202);
    const third = await post(service);
    expect([third.status, third.body["error"]]).to.deep.equal([429, "QUOTA"]);
    expect(third.body["message"]).to.contain("2 requests");
    expect(Number(third.retryAfter)).to.be.greaterThan(0);
    expect((await post(service, { token: HOTEL })).status).to.equal(202);
  });

  it("does not count a repeated request, and answers it after the limit", async () => {
    await using one = kitchen().ensemble;
    const service = await served(one, { quota: { windowMs: HOUR * 24_000, maxRequests: 2 } });
    for (let n = 0; n < 3; n++)
      expect((await post(service, { key: "order-1" })).status).to.equal(202);
    expect((await post(service, { key: "order-2" })).status).to.equal(202);
    expect((await post(service, { key: "order-3" })).status).to.equal(429);
    expect((await post(service, { key: "order-1" })).body).to.include({ status: "DUPLICATE" });
  });

  it("begins again with the next window", async () => {
    const clock = new SteppingClock("2030-01-01T10:59:59.000Z");
    const one = new Ensemble({
      name: "kitchen",
      shareTasks: { cook: new Task({ description: "Cook", handler: () => "soup" }) },
      plugins: [clock.plugin()],
    });
    await using _ = one;
    const service = await served(one, { quota: { windowMs: HOUR, maxRequests: 1 } });
    expect((await post(service)).status).to.equal(202);
    const second = await post(service);
    expect([second.status, second.retryAfter]).to.deep.equal([429, "1"]);
    await clock.advance(1_000);
    expect((await post(service)).status).to.equal(202);
  });

  it("grants the remaining tokens to a run", async () => {
    await using one = kitchen().ensemble;
    const quota = { windowMs: HOUR * 24_000, maxTokens: 20_000 };
    const service = await served(one, { callers: { shop: { token: SHOP, quota } } });
    expect(await cooked(service)).to.include({ status: "COMPLETED" });
    expect(await get(service, "/api/usage")).to.deep.include({
      caller: "shop",
      used: { requests: 1, tokens: 100, cost: 1 },
    });
    await service.stop();
    await using two = kitchen().ensemble;
    const small = { ...quota, maxTokens: 150 }; // a call reserves more
    const other = await served(two, { callers: { shop: { token: SHOP, quota: small } } });
    expect(await cooked(other)).to.include({ status: "FAILED", reason: "BUDGET" });
  });

  it("refuses requests after the last of its tokens, and of its cost", async () => {
    const place = {
      ensemble: "kitchen",
      clock: new SteppingClock(),
      accounts: new LocalBudgetAccounts(),
      currency: "EUR",
    };
    const used = { provider: "p", modelId: "m", inputTokens: 60, outputTokens: 40, cost: 2 };
    const request = { ...requests({ from: "shop" })("cook"), requestId: storedIdOf("shop", "k") };
    for (const limit of [{ maxTokens: 100 }, { maxCost: 2 }]) {
      const quotas = new CallerQuotas({ quota: { windowMs: HOUR, ...limit } }, place);
      expect(await quotas.admit("shop")).not.to.have.property("problem");
      await quotas.spend(request, [{ ...used, currency: "EUR" }]);
      expect(await quotas.admit("shop")).to.have.property("problem");
      expect(await quotas.admit("hotel")).not.to.have.property("problem");
    }
    const quotas = new CallerQuotas({ quota: { windowMs: HOUR, maxCost: 2 } }, place);
    await quotas.spend(request, [{ ...used, currency: "USD" }]); // not the currency of the prices
    expect(await quotas.admit("shop")).not.to.have.property("problem");
  });

  it("is counted for all instances by a backend that supports this", async () => {
    const memory = NetworkBackend.inMemory();
    const accounts = new Map<string, LocalBudgetAccount>();
    const budgetAccounts = {
      open: (request: ConstructorParameters<typeof LocalBudgetAccount>[0] & { key: string }) => {
        const account = accounts.get(request.key) ?? new LocalBudgetAccount(request);
        accounts.set(request.key, account);
        return account;
      },
    };
    const rateWindow = { take: () => ({ begin: () => undefined, end: () => undefined }) };
    const backend: Backend = { ...memory, limits: { budgetAccounts, rateWindow } };
    await using one = kitchen().ensemble;
    await using two = kitchen().ensemble;
    const quota = { windowMs: HOUR * 24_000, maxRequests: 2 };
    const services = [await served(one, { backend, quota }), await served(two, { backend, quota })];
    const statuses: number[] = [];
    for (const service of [...services, ...services]) statuses.push((await post(service)).status);
    expect(statuses).to.deep.equal([202, 202, 429, 429]);
  });

  it("rejects messages over A2A with the time until the next window", async () => {
    await using one = kitchen().ensemble;
    const service = await served(one, { quota: { windowMs: HOUR * 24_000, maxRequests: 1 } });
    const client = await plainClient(service.url ?? "", SHOP);
    await client.sendMessage(textRequest("soup", { messageId: "m-1" }));
    const sent = taskIn(await client.sendMessage(textRequest("soup", { messageId: "m-2" })));
    const fields = JSON.stringify(sent.metadata);
    expect(fields)
      .to.contain('"reason":"QUOTA"')
      .and.to.match(/"retryAfterMs":\d+/);
  });

  it("does not apply to requests of the backend, with any sender name", async () => {
    const backend = NetworkBackend.inMemory();
    await using one = kitchen().ensemble;
    await served(one, {
      backend,
      quota: { windowMs: HOUR * 24_000, maxRequests: 1, maxTokens: 1 },
    });
    const send = requests({ from: "shop" });
    for (const request of [send("cook", { context: "a" }), send("cook", { context: "b" })])
      expect(await ask(backend, request)).to.include({ status: "COMPLETED" });
  });

  it("can be a function of the caller", async () => {
    await using one = kitchen().ensemble;
    const service = await served(one, {
      quota: (caller) =>
        caller === "shop" ? { windowMs: HOUR * 24_000, maxRequests: 1 } : undefined,
    });
    const tokens = [SHOP, SHOP, HOTEL, HOTEL];
    const statuses: number[] = [];
    for (const token of tokens) statuses.push((await post(service, { token })).status);
    expect(statuses).to.deep.equal([202, 429, 202, 202]);
    expect(await get(service, "/api/usage", HOTEL)).to.include({ error: "NO_QUOTA" });
  });

  it("is refused if it limits nothing, or a cost without prices", async () => {
    const free = new Ensemble({ name: "free", shareTasks: { cook: Task.of("Cook {context}") } });
    await using _ = free;
    const start = (quota: StartOptions["quota"]) =>
      rejectionOf(ValidationError, free.start({ port: 0, quota }));
    for (const [quota, text] of [
      [{ windowMs: HOUR }, "must have maxRequests"],
      [{ windowMs: 0, maxRequests: 1 }, "windowMs"],
      [{ windowMs: HOUR, maxCost: -1 }, "maxCost"],
      [{ windowMs: HOUR, maxCost: 1 }, "has no prices"],
    ] as const) {
      const error = await start(quota);
      expect(error.message).to.contain(text);
    }
    const idle = free.start({ quota: { windowMs: 1, maxRequests: 1 } });
    const { message } = await rejectionOf(ValidationError, idle);
    expect(message).to.contain("has no effect without port");
  });
});

describe("the usage of a caller", () => {
  it("is in the events of its requests and in the metrics, without a quota", async () => {
    const { ensemble, metrics } = kitchen();
    await using one = ensemble;
    const log = eventLog();
    const service = await served(one, { listeners: [log.listener] });
    await cooked(service);
    const usage = log.events.flatMap((event) =>
      event.type === "request_finished" ? [event.usage] : [],
    );
    expect(usage).to.have.length(1);
    expect(usage[0]?.[0]).to.include({ ...USAGE, cost: 1, currency: "EUR" });
    const lines = (await metrics()).split("\n");
    expect(lines).to.include.members([
      'agentensemble_network_tokens_total{from="shop",to="kitchen",direction="input"} 60',
      'agentensemble_network_tokens_total{from="shop",to="kitchen",direction="output"} 40',
      'agentensemble_network_cost_total{from="shop",to="kitchen",currency="EUR"} 1',
    ]);
  });
});

describe("the tokens of a caller", () => {
  it("are all accepted while one is replaced by another", async () => {
    await using one = kitchen().ensemble;
    const service = await served(one, { callers: { shop: { token: [SHOP, HOTEL] } } });
    expect((await post(service, { token: SHOP, key: "k" })).body).to.include({
      status: "ACCEPTED",
    });
    expect((await post(service, { token: HOTEL, key: "k" })).body).to.include({
      status: "DUPLICATE",
    });
    expect((await post(service, { token: "another-token-of-it" })).status).to.equal(401);
  });

  it("belong to one caller", async () => {
    await using one = kitchen().ensemble;
    const start = (callers: StartOptions["callers"]) =>
      rejectionOf(ValidationError, served(one, { callers }));
    const twice = await start({ shop: { token: [SHOP, HOTEL] }, hotel: HOTEL });
    expect(twice.message).to.equal("start() callers.hotel has the token of another caller");
    const none = await start({ shop: { token: [] } });
    expect(none.message).to.contain("at least 16 characters");
  });
});
