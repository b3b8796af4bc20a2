import { expect } from "chai";
import type {
  Lease,
  NetworkBackend as Backend,
  RequestQueue,
  WorkRequest,
} from "../../src/contracts/network.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { Ensemble } from "../../src/index.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import { changedQueue, gate, handlerTask, requests, resultOf } from "./support.js";

describe("a request that may have ended the processes of earlier deliveries", () => {
  it("runs alone from its third delivery on, and holds no lease while it waits for the others", async () => {
    const backend = NetworkBackend.inMemory();
    const request = requests();
    const suspect = request("work", { context: "suspect", priority: "LOW" });
    await backend.queue.enqueue("kitchen", suspect);
    for (let i = 0; i < 2; i++) {
      const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 0, leaseMs: 1_000 });
      if (lease !== undefined) await backend.queue.release(lease);
    }
    const running = new Set<string>();
    const together: string[] = [];
    const gates = new Map(["a", "b", "suspect", "c"].map((name) => [name, gate()] as const));
    const work = handlerTask(async ({ inputs }) => {
      const name = String(inputs["context"]);
      running.add(name);
      together.push([...running].sort().join("+"));
      await gates.get(name)?.opened;
      running.delete(name);
      return name;
    });
    const send = (name: string): Promise<unknown> =>
      backend.queue.enqueue("kitchen", request("work", { context: name, priority: "CRITICAL" }));
    await send("a");
    await send("b");
    await using kitchen = new Ensemble({ name: "kitchen", shareTasks: { work } });
    await using service = await kitchen.start({ backend });
    await until(() => together.length === 2);
    await until(async () => (await backend.queue.depth("kitchen")).queued === 1);
    await send("c");
    gates.get("a")?.open();
    await until(() => service.requests().length === 1);
    expect(await backend.queue.status("kitchen", suspect.requestId)).to.equal("QUEUED");
    gates.get("b")?.open();
    await until(() => together.length === 3);
    gates.get("c")?.open();
    await until(() => together.length === 4);
    gates.get("suspect")?.open();
    expect(await resultOf(backend, suspect.requestId)).to.include({
      status: "COMPLETED",
      attempt: 3,
    });
    expect(together).to.deep.equal(["a", "a+b", "c", "suspect"]);
  });

  it("executes all other requests if two of eighty end their process", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const request = requests();
    const all: readonly WorkRequest[] = Array.from({ length: 80 }, (_, i) =>
      request(i === 7 || i === 41 ? "bomb" : "work"),
    );
    for (const one of all) await backend.queue.enqueue("kitchen", one);
    let deaths = 0;
    while (await diesWorking(backend, clock)) expect(++deaths).to.be.below(15);
    const responses = await Promise.all(all.map(({ requestId }) => resultOf(backend, requestId)));
    const ends = responses.map(({ status, reason }, i) => [all[i]?.task, status, reason].join(" "));
    expect(new Set(ends)).to.deep.equal(new Set(["work COMPLETED ", "bomb FAILED POISON"]));
    expect((await backend.queue.deadLetters("kitchen")).length).to.equal(2);
    expect(deaths).to.equal(10);
  });
});

/**
 * Executes the queue with a service that dies at a bomb: afterwards it does nothing, and its leases
 * end. Returns whether it died.
 */
async function diesWorking(backend: Backend, clock: SteppingClock): Promise<boolean> {
  const death = new AbortController();
  const leases: Lease[] = [];
  const alive = async <T>(value: T): Promise<T> =>
    death.signal.aborted ? new Promise<T>(() => undefined) : value;
  const work = handlerTask(async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((next) => setImmediate(next));
    return alive("done");
  });
  const bomb = handlerTask(() => {
    death.abort();
    return new Promise<string>(() => undefined);
  });
  const dequeue: RequestQueue["dequeue"] = async (name, o) => {
    const signal = AbortSignal.any([death.signal, ...(o.signal === undefined ? [] : [o.signal])]);
    const lease = await backend.queue.dequeue(name, { ...o, signal });
    if (lease !== undefined) leases.push(lease);
    return alive(lease);
  };
  const queue = changedQueue(backend.queue, { dequeue });
  const plugins = [clock.plugin()];
  const kitchen = new Ensemble({ name: "kitchen", shareTasks: { work, bomb }, plugins });
  const service = await kitchen.start({ backend: { ...backend, queue }, signals: false });
  await until(async () => {
    const { queued, leased } = await backend.queue.depth("kitchen");
    return death.signal.aborted || queued + leased === 0;
  });
  if (death.signal.aborted) for (const lease of leases) await backend.queue.release(lease);
  else await service.stop();
  return death.signal.aborted;
}
