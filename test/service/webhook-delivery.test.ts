import { expect } from "chai";
import type {
  EnsembleOptions,
  NetworkBackend as Backend,
  Service,
  StartOptions,
  WebhookOptions,
  WorkRequest,
} from "../../src/index.js";
import { Ensemble, NetworkError } from "../../src/index.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { transportOf } from "../../src/plugins/network/shared/transport.js";
import { webhookProblem } from "../../src/plugins/shared/webhooks/webhook-signature.js";
import { LoopbackSite } from "../support/loopback-site.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import { ask, aborted, eventLog, gate, handlerTask, requests, resultOf } from "./support.js";

const SECRET = "a secret of the tests";

describe("the delivery of results by webhook", () => {
  let site: LoopbackSite;
  let status = 200;
  before(async () => {
    site = await LoopbackSite.start({
      "/hook": (_request, response) => void response.writeHead(status).end(),
    });
  });
  after(() => site.close());
  beforeEach(() => {
    status = 200;
    site.requests.length = 0;
  });

  const webhooks = (more: Partial<WebhookOptions> = {}): WebhookOptions => ({
    secret: SECRET,
    hosts: ["127.0.0.1"],
    allow: { hosts: [site.host] },
    maxAttempts: 1,
    ...more,
  });
  const hooked = (more: Partial<WorkRequest> = {}): Partial<WorkRequest> => ({
    delivery: { method: "WEBHOOK", address: site.url("/hook") },
    ...more,
  });
  const posted = (): readonly Readonly<Record<string, unknown>>[] =>
    site.requests.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>);

  /** A kitchen that counts its executions. */
  async function kitchen(
    start: Partial<StartOptions> = {},
    options: Partial<EnsembleOptions> = {},
  ) {
    const log = eventLog();
    const executed: string[] = [];
    const ensemble = new Ensemble({
      name: "kitchen",
      shareTasks: {
        cook: handlerTask(({ inputs }) => {
          executed.push("cook");
          return `cooked ${String(inputs["dish"])}`;
        }),
        burn: handlerTask((): string => {
          throw new Error("it burns");
        }),
        wait: handlerTask(({ signal }) => aborted(signal)),
      },
      ...options,
    });
    const backend = start.backend ?? NetworkBackend.inMemory();
    const started = { backend, webhooks: webhooks(), listeners: [log.listener], signals: false };
    const service = await ensemble.start({ ...started, ...start });
    return { service, backend, log, executed, [Symbol.asyncDispose]: () => ensemble.dispose() };
  }
  const isDone = (backend: Backend, id: string) => async (): Promise<boolean> =>
    (await backend.queue.status("kitchen", id)) === "DONE";
  const isDead = (backend: Backend, id: string) => async (): Promise<boolean> =>
    (await backend.queue.status("kitchen", id)) === "DEAD";

  it("posts the result signed, with the request's id, and then acknowledges", async () => {
    await using one = await kitchen();
    const request = requests(hooked())("cook", { inputs: { dish: "soup" } });
    const response = await ask(one.backend, request);
    await until(isDone(one.backend, request.requestId));
    const [seen] = site.requests;
    expect(posted()).to.deep.equal([response]);
    expect(response).to.include({ status: "COMPLETED", result: "cooked soup" });
    const headers = new Headers(seen?.headers as Record<string, string>);
    expect(headers.get("x-agentensemble-delivery")).to.equal(request.requestId);
    const judged = { secrets: [SECRET], at: new Date() };
    expect(webhookProblem(headers, seen?.body ?? "", judged)).to.equal(undefined);
  });

  it("posts failures and rejections", async () => {
    await using one = await kitchen();
    const send = requests(hooked());
    for (const request of [send("burn"), send("cook", { path: ["kitchen"] })]) {
      await ask(one.backend, request);
      await until(isDone(one.backend, request.requestId));
    }
    expect(posted().map(({ status: s, reason }) => [s, reason])).to.deep.equal([
      ["FAILED", "RUN_FAILED"],
      ["REJECTED", "LOOP"],
    ]);
  });

  it("repeats while the webhook fails, then creates a dead letter; a redrive posts again", async () => {
    const clock = new SteppingClock();
    const options = { plugins: [clock.plugin()] };
    await using one = await kitchen({ webhooks: webhooks({ maxAttempts: 3 }) }, options);
    status = 503;
    const request = requests(hooked())("cook");
    const response = await ask(one.backend, request);
    await until(async () => {
      await clock.advance(500);
      return isDead(one.backend, request.requestId)();
    });
    expect(site.requests.length).to.equal(3);
    await until(() => one.log.events.some(({ type }) => type === "dead_letter"));
    const [letter] = await one.service.deadLetters();
    expect(letter?.reason).to.equal(
      "WEBHOOK_UNDELIVERED: The webhook answered with status 503 (3 attempts)",
    );
    status = 200;
    expect(await one.service.redrive(request.requestId)).to.equal(true);
    await until(isDone(one.backend, request.requestId));
    expect(posted().at(-1)).to.deep.equal(response);
    expect(one.executed).to.deep.equal(["cook"]);
    expect(await one.service.redrive(request.requestId)).to.equal(false);
  });

  it("creates a dead letter immediately for an address that is not allowed", async () => {
    await using one = await kitchen();
    const send = requests();
    const addresses = [
      "http://169.254.169.254/latest",
      "https://elsewhere.example/hook",
      "ftp://x",
    ];
    for (const address of addresses) {
      const request = send("cook", { delivery: { method: "WEBHOOK", address } });
      await ask(one.backend, request);
      await until(isDead(one.backend, request.requestId));
    }
    expect(site.requests).to.have.length(0);
    const reasons = (await one.service.deadLetters()).map(({ reason }) => reason);
    for (const reason of reasons) expect(reason).to.match(/^WEBHOOK_UNDELIVERED: .*not allowed/);
  });

  it("posts a result that an instance stored before it died, without a second execution", async () => {
    const backend = NetworkBackend.inMemory();
    const request = requests(hooked())("cook");
    const { requestId } = request;
    await backend.queue.enqueue("kitchen", request);
    const kept = { v: 1, requestId, status: "COMPLETED", result: "kept", durationMs: 1 } as const;
    await backend.results.store(requestId, kept, 60_000);
    await using one = await kitchen({ backend });
    await until(isDone(backend, requestId));
    expect(posted()).to.deep.equal([kept]);
    expect(one.executed).to.deep.equal([]);
  });

  it("posts the cancellation of a request", async () => {
    await using one = await kitchen();
    const request = requests(hooked())("wait");
    await one.backend.queue.enqueue("kitchen", request);
    await until(() => one.service.requests().length === 1);
    await transportOf("kitchen", one.backend).cancel(request.requestId, "no hunger");
    await until(isDone(one.backend, request.requestId));
    expect(posted()).to.have.length(1);
    expect(posted()[0]).to.include({ status: "CANCELLED", error: "no hunger" });
  });

  it("passes the delivery to the next instance if the service stops in the meantime", async () => {
    const backend = NetworkBackend.inMemory();
    const first = await kitchen({ backend, webhooks: webhooks({ maxAttempts: 100 }) });
    status = 503;
    const request = requests(hooked())("cook");
    await ask(backend, request);
    await until(() => site.requests.length > 0);
    await first.service.stop({ drainTimeoutMs: 1 });
    expect(await backend.queue.status("kitchen", request.requestId)).to.equal("QUEUED");
    status = 200;
    await using next = await kitchen({ backend });
    await until(isDone(backend, request.requestId));
    expect(posted().at(-1)).to.include({ status: "COMPLETED" });
    expect([first.executed, next.executed]).to.deep.equal([["cook"], []]);
  });

  it("warns if the failure of a dead letter does not reach its webhook", async () => {
    const backend = NetworkBackend.inMemory();
    status = 400;
    const request = requests(hooked())("cook");
    await backend.queue.enqueue("kitchen", request);
    const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 1_000, leaseMs: 60_000 });
    if (lease !== undefined) await backend.queue.release(lease); // as a process that died
    await using one = await kitchen({ backend, maxAttempts: 1 });
    await until(() => one.log.shown().some((line) => line.includes("was not delivered")));
    expect(await backend.queue.status("kitchen", request.requestId)).to.equal("DEAD");
    const [letter] = await one.service.deadLetters();
    expect(letter?.reason).to.match(/^AE_RUN_POISONED/);
    expect(posted()[0]).to.include({ status: "FAILED", reason: "POISON" });
  });

  it("is refused by a service without webhooks, and offered over HTTP by a service with webhooks", async () => {
    const posting = async (service: Pick<Service, "url">): Promise<number> => {
      const body = JSON.stringify({ task: "cook", ...hooked() });
      const headers = { "content-type": "application/json" };
      const url = `${service.url ?? ""}/api/work`;
      return (await fetch(url, { method: "POST", headers, body })).status;
    };
    await using without = await kitchen({ port: 0, webhooks: undefined });
    expect(await posting(without.service)).to.equal(400);
    const response = await ask(without.backend, requests(hooked())("cook"));
    expect(response).to.include({ status: "REJECTED", reason: "INVALID_INPUT" });
    await using with_ = await kitchen({ port: 0 });
    expect(await posting(with_.service)).to.equal(202);
    await until(() => site.requests.length === 1);
  });
});

describe("results that a store refuses", () => {
  const refusing = (
    error: (response: { readonly status: string }) => Error | undefined,
  ): Backend => {
    const backend = NetworkBackend.inMemory();
    const { results } = backend;
    return {
      ...backend,
      results: {
        store: async (id, response, ttlMs) => {
          const fault = error(response);
          if (fault !== undefined) throw fault;
          return results.store(id, response, ttlMs);
        },
        retrieve: (id) => results.retrieve(id),
        forget: (id) => results.forget(id),
        subscribe: (...args) => results.subscribe(...args),
      },
    };
  };
  const cook = handlerTask(() => "soup");

  it("become failures and dead letters, instead of endless attempts", async () => {
    const backend = refusing(({ status }) =>
      status === "COMPLETED" ? new NetworkError("too large", { isPermanent: true }) : undefined,
    );
    await using ensemble = new Ensemble({ name: "kitchen", shareTasks: { cook } });
    const service = await ensemble.start({ backend, signals: false });
    const response = await ask(backend, requests()("cook"));
    expect(response).to.include({ status: "FAILED", reason: "RUN_FAILED" });
    expect(response.error).to.equal("The result could not be stored: too large");
    await until(async () => (await service.deadLetters()).length === 1);
    expect((await service.deadLetters())[0]?.reason).to.equal("too large");
  });

  it("are detected if the store is available and continues to refuse", async () => {
    const clock = new SteppingClock();
    let attempts = 0;
    const backend = refusing(({ status }) => {
      if (status !== "COMPLETED") return undefined;
      attempts++;
      return new Error("an error of a driver");
    });
    const plugins = [clock.plugin()];
    await using ensemble = new Ensemble({ name: "kitchen", shareTasks: { cook }, plugins });
    await ensemble.start({ backend, signals: false });
    const request = requests()("cook");
    const result = gate<{ readonly status: string }>();
    await backend.results.subscribe(request.requestId, result.open);
    await backend.queue.enqueue("kitchen", request);
    let status: string | undefined;
    void result.opened.then((response) => (status = response.status));
    await until(async () => {
      await clock.advance(5_000);
      return status !== undefined;
    });
    expect([status, attempts]).to.deep.equal(["FAILED", 13]);
    expect(await resultOf(backend, request.requestId)).to.include({ status: "FAILED" });
  });
});
