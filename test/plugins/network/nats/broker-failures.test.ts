import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type {
  Lease,
  NetworkBackend,
  QueueDepth,
  WorkRequest,
} from "../../../../src/contracts/network.js";
import { NetworkError } from "../../../../src/contracts/network-errors.js";
import { nats } from "../../../../src/network-nats.js";
import { NatsProcess } from "../../../support/nats-process.js";
import { dropNats, NATS_URL, natsPrefix, needNats, onNats } from "../../../support/nats.js";
import { rejectionOf } from "../../../support/rejection.js";
import { pause, until } from "../../../support/time.js";

const QUEUE = "kitchen";
const request = (requestId: string, o: Partial<WorkRequest> = {}): WorkRequest => ({
  v: 1,
  requestId,
  from: "a",
  to: QUEUE,
  type: "TASK",
  task: "t",
  ...o,
});
const response = (requestId: string, result = "x") =>
  ({ v: 1, requestId, status: "COMPLETED", result, durationMs: 0 }) as const;
const SOON = { timeoutMs: 20_000, leaseMs: 60_000 };

async function taken({ queue }: NetworkBackend, leaseMs = 60_000): Promise<Lease> {
  const lease = await queue.dequeue(QUEUE, { ...SOON, leaseMs });
  return lease ?? expect.fail("no request was delivered");
}

/** The place of the state of the only queue's consumer on a server. */
function consumerFile(store: string, prefix: string): string {
  const files = readdirSync(store, { recursive: true, encoding: "utf8" });
  const folder = files.find((path) => path.endsWith(join(`${prefix}-requests`, "obs", QUEUE)));
  return join(store, folder ?? expect.fail("the server keeps no consumer"), "o.dat");
}

/**
 * The content of a file that is written a moment after its cause, when the content no longer
 * changes.
 */
async function untilWritten(file: string): Promise<Buffer> {
  const content = (): Buffer | undefined => (existsSync(file) ? readFileSync(file) : undefined);
  let seen: Buffer | undefined;
  await until(
    async () => {
      const before = content();
      await pause(300);
      seen = content();
      return before !== undefined && seen?.equals(before) === true;
    },
    () => `${file} is not written`,
  );
  return seen ?? expect.fail("nothing was written");
}

/** Repeats a call until the server answers. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (let n = 0; ; n++)
    try {
      return await call();
    } catch (error) {
      if (!NetworkError.isInstance(error) || n > 200) throw error;
      await pause(50);
    }
}

describe("nats() and failures", function () {
  this.timeout(60_000);
  const prefix = natsPrefix();
  const open: NetworkBackend[] = [];
  const client = (o: { servers?: string; prefix?: string } = {}): NetworkBackend => {
    const backend = nats({ servers: NATS_URL, prefix, ...o });
    open.push(backend);
    return backend;
  };
  before(function () {
    return needNats(this);
  });
  afterEach(async () => {
    for (const backend of open.splice(0)) await backend.close();
    await dropNats(prefix);
  });

  it("rejects with NetworkError if no server answers, and after close()", async () => {
    const nobody = client({ servers: "nats://user:secret@127.0.0.1:1" });
    const error = await rejectionOf(NetworkError, nobody.queue.depth(QUEUE));
    expect(error).to.have.property("code", "AE_NETWORK");
    expect(String(error)).to.contain("127.0.0.1:1").and.not.contain("secret");
    const closed = client();
    await closed.close();
    await closed.close();
    for (const call of [
      closed.queue.enqueue(QUEUE, request("r1")),
      closed.queue.dequeue(QUEUE, SOON),
      closed.results.retrieve("r1"),
      closed.topics.publish("t", 1),
      closed.catalogue.entries(),
    ])
      expect(await rejectionOf<NetworkError>(NetworkError, call)).to.have.property(
        "code",
        "AE_NETWORK",
      );
  });

  it("ends waits at close()", async () => {
    const backend = client();
    const waiting = backend.queue.dequeue(QUEUE, SOON);
    await until(async () =>
      onNats(async (manager) => {
        const [info] = await manager.consumers
          .list(`${prefix}-requests`)
          .next()
          .catch(() => []);
        return (info?.num_waiting ?? 0) > 0;
      }),
    );
    await backend.close();
    expect(await waiting).to.equal(undefined);
  });

  it("creates its streams again after another client has removed them", async () => {
    const backend = client();
    await backend.queue.enqueue(QUEUE, request("r1"));
    await dropNats(prefix);
    const accepted = async (): Promise<boolean> => {
      try {
        return (await backend.queue.enqueue(QUEUE, request("r1"))).status === "ACCEPTED";
      } catch (error) {
        expect(error).to.have.property("code", "AE_NETWORK");
        return false;
      }
    };
    await until(accepted);
    expect((await taken(backend)).request.requestId).to.equal("r1");
  });

  it("leaves the configuration of streams unchanged", async () => {
    await onNats((manager) =>
      manager.streams.add({
        name: `${prefix}-requests`,
        subjects: [`${prefix}.requests.>`],
        retention: "workqueue",
        storage: "memory",
        allow_direct: true,
      }),
    );
    await client().queue.enqueue(QUEUE, request("r1"));
    const { config } = await onNats((manager) => manager.streams.info(`${prefix}-requests`));
    expect(config.storage).to.equal("memory");
  });

  it("keeps results longer than ids if requested", async () => {
    const { results } = client();
    await results.store("r1", response("r1"), 200_000_000);
    const { config } = await onNats((manager) => manager.streams.info(`KV_${prefix}-results`));
    expect(config.max_age).to.equal(200_000_000_000_000);
    expect((await results.retrieve("r1"))?.result).to.equal("x");
  });

  it("allows each client to end the lease of another client by its token", async () => {
    const [first, second] = [client(), client()];
    await first.queue.enqueue(QUEUE, request("r1"));
    const lease = await taken(first);
    expect(await second.queue.extend({ ...lease, token: "other" })).to.equal(false);
    expect(await second.queue.extend(lease)).to.equal(true);
    expect(await first.queue.extend(lease), "the token is the same").to.equal(true);
    expect(await second.queue.acknowledge(lease)).to.equal(true);
    expect(await first.queue.acknowledge(lease)).to.equal(true, "done with this token");
    expect(await first.queue.acknowledge(lease)).to.equal(false);
    expect(await second.queue.status(QUEUE, "r1")).to.equal("DONE");
  });

  it("does not deliver a completed request again, even if the server does", async () => {
    const backend = client();
    await backend.queue.enqueue(QUEUE, request("r1"));
    await backend.queue.acknowledge(await taken(backend));
    await onNats(async (manager) => {
      const { names } = { names: `${prefix}.requests.${QUEUE}.r1` };
      await manager.jetstream().publish(names, JSON.stringify(request("r1")));
    });
    expect(await backend.queue.dequeue(QUEUE, { timeoutMs: 0, leaseMs: 1_000 })).to.equal(
      undefined,
    );
    expect(await backend.queue.depth(QUEUE)).to.include({ queued: 0, leased: 0 });
  });

  it("keeps large requests among its dead letters", async () => {
    const backend = client();
    const context = "é".repeat(700_000);
    await backend.queue.enqueue(QUEUE, request("r1", { context }));
    await backend.queue.deadLetter(await taken(backend), "odd \n\ud800 reason");
    const [letter] = await backend.queue.deadLetters(QUEUE);
    expect(letter?.request.context === context).to.equal(true);
    expect(letter?.reason).to.equal("odd \n\ufffd reason");
    expect(await backend.queue.redrive(QUEUE, "r1")).to.equal(true);
    const again = await taken(backend);
    expect(again.request.context === context).to.equal(true);
    await backend.queue.acknowledge(again);
    const { state } = await onNats((manager) => manager.streams.info(`${prefix}-parts`));
    expect(state.messages).to.equal(0);
  });

  it("counts released requests as waiting, and towards maxQueued", async () => {
    const { queue } = client();
    await queue.enqueue(QUEUE, request("r1"));
    await queue.release(await taken({ queue } as NetworkBackend), { delayMs: 60_000 });
    expect(await queue.depth(QUEUE)).to.include({ queued: 1, leased: 0 });
    expect(await queue.enqueue(QUEUE, request("r2"), { maxQueued: 1 })).to.deep.equal({
      status: "FULL",
    });
    expect(await queue.dequeue(QUEUE, { timeoutMs: 0, leaseMs: 1_000 })).to.equal(undefined);
  });
});

describe("nats() and a server that is killed", function () {
  this.timeout(60_000);
  const prefix = natsPrefix();
  const server = new NatsProcess();
  const open: NetworkBackend[] = [];
  before(async function () {
    await needNats(this);
    await server.start();
  });
  after(async () => {
    for (const backend of open) await backend.close();
    await server.kill();
  });

  it("continues after its return, with the accepted and leased requests", async () => {
    const [first, second] = [0, 1].map(() => {
      const backend = nats({ servers: server.url });
      open.push(backend);
      return backend;
    }) as [NetworkBackend, NetworkBackend];
    await first.queue.enqueue(QUEUE, request("r1"));
    const lease = await taken(first);
    const results: unknown[] = [];
    await second.results.subscribe("r1", (result) => void results.push(result));
    const waiting = eventually(() => second.queue.dequeue(QUEUE, SOON));
    await server.kill();
    const error = await rejectionOf(NetworkError, first.queue.enqueue(QUEUE, request("r2")));
    expect(error).to.have.property("code", "AE_NETWORK");
    await server.start();
    await eventually(() => first.queue.enqueue(QUEUE, request("r2")));
    expect((await waiting)?.request.requestId).to.equal("r2");
    expect(await eventually(() => first.queue.acknowledge(lease))).to.equal(true);
    await eventually(() => first.results.store("r1", response("r1"), 60_000));
    await until(() => results.length === 1);
  });

  it("does not count the delivery of a done request that a killed server still waits for", async () => {
    const backend = nats({ servers: server.url, prefix });
    open.push(backend);
    for (const id of ["r1", "r2", "r3"]) await backend.queue.enqueue(QUEUE, request(id));
    const leases = [await taken(backend), await taken(backend), await taken(backend)];
    const file = consumerFile(server.store, prefix);
    const state = await untilWritten(file);
    const [first, second, third] = leases as [Lease, Lease, Lease];
    expect(await backend.queue.acknowledge(second)).to.equal(true);
    await server.kill();
    writeFileSync(file, state); // as if the acknowledgement had not been written
    await server.start();
    let depth: QueueDepth | undefined;
    await until(
      async () => (depth = await eventually(() => backend.queue.depth(QUEUE))).leased === 2,
      () => `leased: ${JSON.stringify(depth)}`,
    );
    for (const lease of [first, third])
      expect(await backend.queue.acknowledge(lease)).to.equal(true);
    expect(await backend.queue.depth(QUEUE)).to.include({ queued: 0, leased: 0 });
  });
});
