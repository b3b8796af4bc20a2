import { expect } from "chai";
import type { Ingress, IngressPort, IngressWork, Service, StartOptions } from "../../src/index.js";
import type { WebhookIngressOptions } from "../../src/plugins/network/ingress/webhook.js";
import { Ensemble, NetworkError, ServiceStateError, ValidationError } from "../../src/index.js";
import { webhook } from "../../src/plugins/network/ingress/webhook.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { signedHeaders } from "../../src/plugins/shared/webhooks/webhook-signature.js";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";
import { changedQueue, eventLog, gate, handlerTask, resultOf } from "./support.js";

const SECRET = "a secret of the tests";

interface Message {
  readonly name?: string;
  readonly id?: string;
  readonly body?: string;
  readonly at?: Date;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a signed message to a service. Returns status, JSON and headers. */
async function send(service: Pick<Service, "url">, o: Message = {}) {
  const { name = "orders", id = "d-1", body = '{"order":7}', at = new Date() } = o;
  const headers = {
    "content-type": "application/json",
    ...signedHeaders({ deliveryId: id, body, at }, o.secret ?? SECRET),
    ...o.headers,
  };
  const url = `${service.url ?? ""}/api/webhooks/${name}`;
  const answer = await fetch(url, { method: "POST", headers, body });
  const json = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, json, headers: answer.headers };
}

const orders = (more: Partial<WebhookIngressOptions> = {}): Ingress =>
  webhook({
    name: "orders",
    secret: SECRET,
    map: ({ order }) => ({ task: "pack", inputs: { order } }),
    ...more,
  });

/** A service that counts its executions. */
async function packing(start: Partial<StartOptions> = {}) {
  const packed: unknown[] = [];
  const log = eventLog();
  const backend = NetworkBackend.inMemory();
  const shop = new Ensemble({
    name: "shop",
    shareTasks: {
      pack: handlerTask(({ inputs }) => {
        packed.push(inputs["order"]);
        return `packed ${String(inputs["order"])}`;
      }),
    },
  });
  const service = await shop.start({
    port: 0,
    backend,
    ingress: [orders()],
    listeners: [log.listener],
    signals: false,
    ...start,
  });
  const result = (id: string): ReturnType<typeof resultOf> => resultOf(backend, id);
  return { service, packed, result, log, [Symbol.asyncDispose]: () => shop.dispose() };
}

describe("webhook()", () => {
  it("creates a request from a signed message, with the delivery's id", async () => {
    await using shop = await packing();
    const sent = await send(shop.service);
    expect(sent.status).to.equal(202);
    expect(sent.json).to.deep.equal({ requestId: "d-1", status: "ACCEPTED" });
    expect(await shop.result("d-1")).to.include({ status: "COMPLETED", result: "packed 7" });
  });

  it("executes a message once if it is repeated within five minutes", async () => {
    await using shop = await packing();
    const at = new Date(Date.now() - 240_000);
    for (const status of ["ACCEPTED", "DUPLICATE", "DUPLICATE"])
      expect((await send(shop.service, { at })).json).to.include({ status });
    await shop.result("d-1");
    expect((await send(shop.service)).json).to.include({ status: "DUPLICATE" });
    expect(shop.packed).to.deep.equal([7]);
    const other = await send(shop.service, { body: '{"order":8}' });
    expect([other.status, other.json["error"]]).to.deep.equal([409, "CONFLICT"]);
  });

  it("refuses messages without a signature, with another signature, or older than five minutes", async () => {
    await using shop = await packing();
    const hourAgo = new Date(Date.now() - 3_600_000);
    const refused: readonly (readonly [Message, number, string])[] = [
      [{ at: hourAgo }, 401, "TOO_OLD"],
      [{ secret: "another secret of the tests" }, 401, "WRONG_SIGNATURE"],
      [{ headers: { "x-agentensemble-signature": "" } }, 401, "UNSIGNED"],
      [{ headers: { "content-type": "text/plain" } }, 415, "NOT_JSON"],
      [{ name: "invoices" }, 404, "NOT_FOUND"],
      [{ body: "[1]" }, 400, "BAD_REQUEST"],
      [{ body: "{" }, 400, "BAD_REQUEST"],
      [{ body: '{"__proto__":{"order":1}}' }, 400, "BAD_REQUEST"],
      [{ id: "" }, 400, "BAD_REQUEST"],
      [{ id: "x".repeat(201) }, 400, "BAD_REQUEST"],
      [{ headers: { origin: "http://elsewhere.example" } }, 403, "FORBIDDEN_ORIGIN"],
    ];
    for (const [message, status, error] of refused) {
      const answer = await send(shop.service, message);
      expect([answer.status, answer.json["error"]], JSON.stringify(message)).to.deep.equal([
        ...[status, error],
      ]);
    }
    expect(shop.packed).to.deep.equal([]);
    const changed = await send(shop.service, { id: "d-2" });
    expect(changed.status).to.equal(202);
  });

  it("refuses a body above the limit before it verifies the signature", async () => {
    await using shop = await packing({ maxMessageBytes: 100 });
    const { status, json } = await send(shop.service, { body: `{"a":"${"x".repeat(100)}"}` });
    expect([status, json["error"]]).to.deep.equal([413, "BODY_TOO_LARGE"]);
  });

  it("answers 503 with Retry-After while the service drains", async () => {
    const release = gate<string>();
    const ensemble = new Ensemble({
      name: "shop",
      shareTasks: { pack: handlerTask(() => release.opened) },
    });
    await using service = await ensemble.start({ port: 0, ingress: [orders()], signals: false });
    await send(service);
    await until(() => service.requests().length === 1);
    const stopped = service.stop();
    const answer = await send(service, { id: "d-2" });
    expect([answer.status, answer.json["error"]]).to.deep.equal([503, "DRAINING"]);
    expect(answer.headers.get("retry-after")).to.equal("5");
    release.open("done");
    await stopped;
  });

  it("answers 429 if too many requests wait, and 503 while the storage is unavailable", async () => {
    const backend = NetworkBackend.inMemory();
    let isAway = false;
    const queue = changedQueue(backend.queue, {
      enqueue: async () => {
        if (isAway) throw new NetworkError("away on purpose");
        return { status: "FULL" };
      },
    });
    await using shop = await packing({ backend: { ...backend, queue } });
    const full = await send(shop.service);
    expect([full.status, full.json["error"]]).to.deep.equal([429, "AT_CAPACITY"]);
    expect(full.headers.get("retry-after")).to.equal("5");
    isAway = true;
    const away = await send(shop.service);
    expect([away.status, away.json["error"]]).to.deep.equal([503, "UNAVAILABLE"]);
  });

  it("accepts the old and the new secret while it is changed", async () => {
    const secret = ["the new secret of the tests", SECRET];
    await using shop = await packing({ ingress: [orders({ secret })] });
    expect((await send(shop.service)).status).to.equal(202);
    const next = await send(shop.service, { id: "d-2", secret: "the new secret of the tests" });
    expect(next.status).to.equal(202);
  });

  it("ignores messages that are mapped to nothing, and reports errors of the mapping", async () => {
    const map = ({ kind }: Readonly<Record<string, unknown>>): IngressWork | undefined => {
      if (kind === "ping") return undefined;
      if (kind === "wrong") throw new ValidationError("kind must be known");
      if (kind === "unknown") return { task: "pakc" };
      if (kind === "field") return { task: "pack", prority: "HIGH" } as IngressWork;
      if (kind === "priority") return { task: "pack", priority: "URGENT" as "HIGH" };
      throw new Error("a fault with a secret");
    };
    await using shop = await packing({ ingress: [orders({ map })] });
    const asked = async (kind: string): Promise<readonly unknown[]> => {
      const { status, json } = await send(shop.service, { body: JSON.stringify({ kind }) });
      return [status, json["error"] ?? json["status"], json["message"]];
    };
    expect(await asked("ping")).to.deep.equal([200, "IGNORED", undefined]);
    expect(await asked("wrong")).to.deep.equal([400, "BAD_REQUEST", "kind must be known"]);
    expect((await asked("unknown"))[2]).to.match(/Did you mean 'pack'/);
    expect((await asked("field"))[2]).to.match(/Did you mean 'priority'/);
    expect((await asked("priority"))[0]).to.equal(400);
    const failed = await asked("else");
    expect(failed.slice(0, 2)).to.deep.equal([422, "NOT_MAPPED"]);
    expect(JSON.stringify(failed)).to.not.contain("secret");
    expect(shop.log.shown().join()).to.match(/can't map message 'd-1': a fault with a secret/);
  });

  it("checks its options", () => {
    const wrong: readonly Partial<WebhookIngressOptions>[] = [
      { name: "a name" },
      { secret: "short" },
      { secret: [] },
      { secret: [SECRET, "short"] },
      { map: undefined as never },
      { mapping: 1 } as never,
    ];
    for (const each of wrong)
      expect(() => orders(each), JSON.stringify(each)).to.throw(ValidationError);
  });
});

describe("the ingress of a service", () => {
  const started = async (ingress: unknown, more: Partial<StartOptions> = {}): Promise<Error> => {
    const ensemble = new Ensemble({ name: "shop", shareTasks: { pack: handlerTask(() => "x") } });
    const wrong = ingress as readonly Ingress[]; // invalid values on purpose
    return (await rejection(ensemble.start({ ingress: wrong, ...more }))) as Error;
  };

  it("is checked before anything is opened", async () => {
    const open = (): (() => void) => () => undefined;
    for (const [ingress, text] of [
      [{}, /ingress must be an array/],
      [[{}], /ingress\[0\] must have a name/],
      [[undefined], /ingress\[0\] must have a name/],
      [[{ name: "a" }], /must have routes\(\) or open\(\)/],
      [[{ name: "a", open: 1 }], /open must be a function/],
      [[orders()], /has routes, and start\(\) no port/],
      [
        [
          { name: "a", open },
          { name: "a", open },
        ],
        /has the name of another: 'a'/,
      ],
    ] as const) {
      const error = await started(ingress);
      expect(error).to.be.instanceOf(ValidationError);
      expect(error.message).to.match(text);
    }
  });

  it("receives messages while the service is ready", async () => {
    let port: IngressPort | undefined;
    const states: string[] = [];
    const consumer: Ingress = {
      name: "consumer",
      open: (opened) => {
        port = opened;
        return () => void states.push("ended");
      },
    };
    const ensemble = new Ensemble({
      name: "shop",
      shareTasks: { pack: handlerTask(({ inputs }) => JSON.stringify(inputs)) },
    });
    const service = await ensemble.start({ ingress: [consumer], signals: false });
    const receipt = await port?.submit("m-1", { task: "pack", inputs: { order: 1 } });
    expect(receipt).to.deep.equal({ status: "ACCEPTED" });
    expect(await resultOf(service.backend, "m-1")).to.include({ result: '{"order":1}' });
    await service.stop();
    expect(states).to.deep.equal(["ended"]);
    const late = await rejection(port?.submit("m-2", { task: "pack" }) ?? Promise.resolve());
    expect(late).to.be.instanceOf(ServiceStateError);
  });

  it("is opened after the handlers of signals, and stop() ends a start that waits for it", async () => {
    const before = process.listenerCount("SIGTERM"); // other tests of this process may have some
    const opened = gate<() => void>();
    const ended: string[] = [];
    let openings = 0;
    const slow: Ingress = {
      name: "slow",
      open: () => {
        openings++;
        return opened.opened;
      },
    };
    const ensemble = new Ensemble({ name: "shop", shareTasks: { pack: handlerTask(() => "") } });
    const stops = [() => ensemble.stop(), () => process.emit("SIGTERM", "SIGTERM")];
    for (const [n, stop] of stops.entries()) {
      const starting = rejection(ensemble.start({ ingress: [slow] }));
      await until(() => openings > n);
      void stop();
      expect(await starting).to.be.instanceOf(ServiceStateError);
      await ensemble.stop();
    }
    opened.open(() => void ended.push("slow"));
    await until(() => ended.length === 2);
    expect(process.listenerCount("SIGTERM")).to.equal(before);
  });

  it("ends the start if it can't be opened, and closes those that were opened before", async () => {
    const ended: string[] = [];
    const log = eventLog();
    const error = await started(
      [
        { name: "one", open: () => () => void ended.push("one") },
        {
          name: "two",
          open: () => () => {
            throw new Error("it hangs");
          },
        },
        {
          name: "three",
          open: () => {
            throw new Error("no connection");
          },
        },
      ],
      { listeners: [log.listener] },
    );
    expect(error.message).to.equal("no connection");
    expect(ended).to.deep.equal(["one"]);
    expect(log.shown()).to.include("warning Ingress 'two' could not be closed: it hangs");
    expect(log.shown().at(-1)).to.equal("STOPPED");
  });
});
