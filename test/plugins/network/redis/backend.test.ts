import { randomUUID } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Queue } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import type { Lease, NetworkBackend, WorkRequest } from "../../../../src/contracts/network.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { NetworkError, RequestConflictError } from "../../../../src/contracts/network-errors.js";
import { bullmq, type BullmqOptions } from "../../../../src/plugins/network/redis/index.js";
import { OwnRedis } from "../../../support/own-redis.js";
import { keysOf, needRedis, REDIS_URL, removeKeys } from "../../../support/redis.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { until } from "../../../support/time.js";

const LEASE_MS = 60_000;
const WAIT_MS = 20_000;

const request = (requestId: string, more: Partial<WorkRequest> = {}): WorkRequest => ({
  v: 1,
  requestId,
  from: "shop",
  to: "kitchen",
  type: "TASK",
  task: "meal",
  ...more,
});

async function taken({ queue }: NetworkBackend): Promise<Lease> {
  const lease = await queue.dequeue("kitchen", { timeoutMs: WAIT_MS, leaseMs: LEASE_MS });
  if (lease === undefined) throw new Error("no request was delivered");
  return lease;
}

/** Forwards everything, and cuts a connection instead of its next answer after a command. */
class CuttingProxy {
  readonly #server: Server;
  #command: string | undefined;

  constructor(target: string) {
    const { hostname: host, port } = new URL(target);
    this.#server = createServer((client) => {
      const server = connect(Number(port), host);
      let isCut = false;
      const end = (): void => [client, server].forEach((socket: Socket) => void socket.destroy());
      client.on("data", (part: Buffer) => {
        const command = this.#command;
        if (command !== undefined && part.includes(command)) {
          this.#command = undefined;
          isCut = true;
        }
        server.write(part);
      });
      server.on("data", (part: Buffer) => {
        if (isCut) end();
        else client.write(part);
      });
      for (const socket of [client, server]) {
        socket.on("error", end);
        socket.on("close", end);
      }
    });
  }

  /** Cuts the connection on which a command with this text is sent. */
  cutAt(text: string): void {
    this.#command = text;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    return `redis://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe("the options of bullmq()", () => {
  const refused = (options: object): string => {
    try {
      bullmq(options as BullmqOptions); // wrong on purpose
    } catch (error) {
      if (ValidationError.isInstance(error)) return error.message;
      throw error;
    }
    throw new Error("the options were accepted");
  };

  it("are checked, and a password is not shown", () => {
    expect(refused({ url: "http://localhost" })).to.contain("url of bullmq()");
    expect(refused({ url: "redis//:ana:secret@host" })).not.to.contain("secret");
    expect(refused({ url: 3 })).to.contain("got: 3");
    expect(refused({})).to.contain("url of bullmq()");
    expect(refused({ url: REDIS_URL, prefix: "a:b" })).to.contain("prefix of bullmq()");
    expect(refused({ url: REDIS_URL, prefx: "a" })).to.contain("prefix");
    for (const name of ["idTtlMs", "leaseCheckMs", "timeoutMs"])
      expect(refused({ url: REDIS_URL, [name]: 0 })).to.contain(`bullmq() ${name}`);
  });
});

describe("requests in BullMQ", () => {
  let prefix: string;
  let backend: NetworkBackend;
  before(async function () {
    await needRedis(this);
  });
  beforeEach(() => {
    prefix = `test-${randomUUID()}`;
    backend = bullmq({ url: REDIS_URL, prefix, leaseCheckMs: 100, timeoutMs: 20_000 });
  });
  afterEach(async () => {
    await backend.close();
    await removeKeys(prefix);
  });

  it("have keys that begin with the prefix, with one hash slot per queue", async () => {
    const { queue, results, catalogue } = backend;
    await queue.enqueue("kitchen", request("r1"));
    await queue.acknowledge(await taken(backend));
    await results.store("r1", { v: 1, requestId: "r1", status: "COMPLETED", durationMs: 1 }, 9_000);
    await catalogue.announce({ ensemble: "kitchen", instance: "a", capabilities: [] }, 9_000);
    const keys = await keysOf(prefix);
    expect(keys).to.include.members([`${prefix}:catalogue`, `${prefix}:result:r.r1`]);
    const others = keys.filter((key) => !/:(?:catalogue|result:.*)$/.test(key));
    expect(others.filter((key) => !key.startsWith(`${prefix}:{kitchen}:`))).to.deep.equal([]);
    expect(others).not.to.have.lengthOf(0);
  });

  it("drop a large content when they are done, but remain known", async () => {
    const { queue } = backend;
    const large = request("large", { context: "x".repeat(5_000) });
    await queue.enqueue("kitchen", large);
    const lease = await taken(backend);
    await queue.acknowledge(lease);
    const redis = new Redis(REDIS_URL);
    const data = await redis.hget(`${prefix}:{kitchen}:r.large`, "data");
    redis.disconnect();
    expect(data).to.be.a("string").that.does.not.contain("xxx");
    expect((await queue.enqueue("kitchen", large)).status).to.equal("DUPLICATE");
    const other = await rejection(queue.enqueue("kitchen", request("large", { task: "other" })));
    expect(RequestConflictError.isInstance(other)).to.equal(true);
  });

  it("may be ended by another client with the same lease", async () => {
    const other = bullmq({ url: REDIS_URL, prefix });
    for (const id of ["r1", "r2"]) await backend.queue.enqueue("kitchen", request(id));
    const copy = { ...(await taken(backend)) };
    expect(await other.queue.extend(copy)).to.equal(true);
    expect(await other.queue.acknowledge(copy)).to.equal(true);
    expect(await backend.queue.acknowledge(copy)).to.equal(false);
    const second = { ...(await taken(backend)) };
    expect(await other.queue.deadLetter(second, "odd")).to.equal(true);
    expect(await other.queue.deadLetter(second, "odd")).to.equal(false);
    const unknown = { ...second, request: request("unknown") };
    expect(await other.queue.acknowledge(unknown)).to.equal(false);
    await other.close();
  });

  it("continue after a job of another form that another program has added", async () => {
    const { queue } = backend;
    const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
    const foreign = new Queue("{kitchen}", { connection: redis, prefix });
    await foreign.add("odd", { some: "thing" }, { priority: 1 });
    await foreign.close();
    redis.disconnect();
    await queue.enqueue("kitchen", request("r1"));
    expect((await taken(backend)).request.requestId).to.equal("r1");
    expect(await queue.depth("kitchen")).to.deep.include({ queued: 0, leased: 1, dead: 1 });
    expect(await queue.deadLetters("kitchen")).to.deep.equal([]);
  });

  it("report the wait of the oldest request, with any priority", async () => {
    const { queue } = backend;
    await queue.enqueue("kitchen", request("old", { priority: "LOW" }));
    await until(async () => (await queue.depth("kitchen")).oldestWaitMs > 200);
    await queue.enqueue("kitchen", request("new", { priority: "CRITICAL" }));
    expect((await queue.depth("kitchen")).oldestWaitMs).to.be.above(200);
  });

  it("are not delivered after the end of the backend, which ends all waits", async () => {
    const { queue } = backend;
    const waiting = rejection(queue.dequeue("kitchen", { timeoutMs: WAIT_MS, leaseMs: LEASE_MS }));
    await queue.depth("kitchen");
    await backend.close();
    expect(NetworkError.isInstance(await waiting)).to.equal(true);
    const late = await rejectionOf(NetworkError, queue.depth("kitchen"));
    expect(late.message).to.contain("closed");
    await backend.close();
  });

  it("report a stored result as stored, also if the reply was lost", async () => {
    const proxy = new CuttingProxy(REDIS_URL);
    const behind = bullmq({ url: await proxy.listen(), prefix });
    try {
      const response = { v: 1, requestId: "cut", status: "COMPLETED", durationMs: 1 } as const;
      expect(await behind.results.retrieve("cut")).to.equal(undefined);
      proxy.cutAt("NX"); // of the command that keeps a result
      expect(await behind.results.store("cut", response, 60_000)).to.equal(true);
      expect(await behind.results.store("cut", response, 60_000)).to.equal(false);
    } finally {
      await behind.close();
      await proxy.close();
    }
  });
});

describe("a backend whose Redis is unavailable", function () {
  this.timeout(120_000);

  it("rejects after its time limit, and continues when Redis is back", async function () {
    const server = await OwnRedis.make(this);
    const backend = bullmq({ url: server.url, timeoutMs: 20_000 });
    const impatient = bullmq({ url: server.url, timeoutMs: 300 });
    try {
      const { queue, results } = impatient;
      await backend.queue.enqueue("kitchen", request("r1"));
      await until(
        () =>
          queue.depth("kitchen").then(
            () => true,
            () => false,
          ),
        undefined,
        60_000,
      );
      await server.kill();
      const calls = [
        () => queue.enqueue("kitchen", request("r2")),
        () => queue.dequeue("kitchen", { timeoutMs: 500, leaseMs: LEASE_MS }),
        () => results.retrieve("r1"),
        () => results.subscribe("r1", () => undefined),
        () => impatient.catalogue.entries(),
      ];
      for (const call of calls) {
        const error = await rejectionOf(NetworkError, call());
        expect(error.message).to.contain(new URL(server.url).host);
      }
      await server.start();
      await until(
        () =>
          queue.enqueue("kitchen", request("r2")).then(
            () => true,
            () => false,
          ),
        undefined,
        60_000,
      );
      const ids = [await taken(backend), await taken(backend)].map((lease) => lease.request.requestId); // prettier-ignore
      expect(ids.sort()).to.deep.equal(["r1", "r2"]);
    } finally {
      await backend.close();
      await impatient.close();
      await server.kill();
    }
  });

  it("opens when Redis becomes available", async function () {
    const server = await OwnRedis.make(this);
    await server.kill();
    const backend = bullmq({ url: server.url, timeoutMs: 200 });
    try {
      const error = await rejectionOf(NetworkError, backend.queue.depth("kitchen"));
      expect(error.message).to.match(/can't be used: .*ECONNREFUSED/);
      await server.start();
      await until(
        () =>
          backend.queue.depth("kitchen").then(
            () => true,
            () => false,
          ),
        undefined,
        60_000,
      );
    } finally {
      await backend.close();
      await server.kill();
    }
  });
});
