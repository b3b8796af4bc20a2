import type { Lease, WorkRequest } from "agentensemble";
import { ValidationError } from "agentensemble";
import { NetworkBackend, NetworkError, RequestQueue, Transport } from "agentensemble/network";
import { expect } from "chai";
import fc from "fast-check";
import { rejection } from "../../../support/rejection.js";
import { SteppingClock } from "./stepping-clock.js";

const request = (requestId: string, o: Partial<WorkRequest> = {}): WorkRequest => ({
  v: 1,
  requestId,
  from: "shop",
  to: "q",
  type: "TASK",
  task: "t",
  ...o,
});
const NOW = { timeoutMs: 0, leaseMs: 1_000 };

describe("RequestQueue.inMemory", () => {
  it("uses only its clock: for leases, delays, waits, ageing and known ids", async () => {
    const clock = new SteppingClock();
    const queue = RequestQueue.inMemory({ clock, agingMs: 1_000, idTtlMs: 10_000 });
    await queue.enqueue("q", request("low", { priority: "LOW" }));
    clock.step(3_001);
    await queue.enqueue("q", request("critical", { priority: "CRITICAL" }));
    const low = await queue.dequeue("q", NOW);
    expect(low?.request.requestId).to.equal("low");
    expect(low?.waitedMs).to.equal(3_001);
    clock.step(1_000);
    const critical = await queue.dequeue("q", NOW);
    const again = await queue.dequeue("q", NOW);
    expect([critical, again].map((lease) => [lease?.request.requestId, lease?.attempt])).to.eql([
      ["low", 2],
      ["critical", 1],
    ]);
    await queue.release(again as Lease, { delayMs: 500 }); // checked above
    const waiting = queue.dequeue("q", { timeoutMs: 600, leaseMs: 50_000 });
    clock.step(500);
    const last = await waiting;
    expect([last?.request.requestId, last?.attempt]).to.eql(["critical", 2]);
    const none = queue.dequeue("q", { timeoutMs: 100, leaseMs: 1_000 });
    clock.step(100);
    expect(await none).to.equal(undefined);
    await queue.acknowledge(last as Lease); // checked above
    clock.step(9_999);
    expect(await queue.status("q", "critical")).to.equal("DONE");
    clock.step(1);
    expect(await queue.status("q", "critical")).to.equal(undefined);
    await queue.close?.();
  });

  it("delivers an extended lease to a waiting consumer when the lease ends, and not before", async () => {
    const clock = new SteppingClock();
    const queue = RequestQueue.inMemory({ clock });
    await queue.enqueue("q", request("r"));
    const lease = await queue.dequeue("q", NOW);
    let delivered: Lease | undefined;
    const waiting = queue.dequeue("q", { timeoutMs: 9_000, leaseMs: 1_000 }).then((next) => {
      delivered = next;
    });
    clock.step(900);
    expect(await queue.extend(lease as Lease)).to.equal(true); // the queue has one request
    clock.step(999);
    await Promise.resolve();
    expect(delivered).to.equal(undefined);
    clock.step(1);
    await waiting;
    expect(delivered?.attempt).to.equal(2);
    await queue.close?.();
  });

  it("passes a request on when the consumer that was notified disconnects", async () => {
    const queue = RequestQueue.inMemory();
    const controller = new AbortController();
    const first = queue.dequeue("q", {
      timeoutMs: 5_000,
      leaseMs: 1_000,
      signal: controller.signal,
    });
    const second = queue.dequeue("q", { timeoutMs: 5_000, leaseMs: 1_000 });
    const accepted = queue.enqueue("q", request("r"));
    controller.abort();
    await accepted;
    expect(await first).to.equal(undefined);
    expect((await second)?.request.requestId).to.equal("r");
    await queue.close?.();
  });

  it("ends waits when it is closed, and refuses later calls", async () => {
    const backend = NetworkBackend.inMemory();
    const waiting = backend.queue.dequeue("q", { timeoutMs: 60_000, leaseMs: 1_000 });
    await backend.close();
    expect(await waiting).to.equal(undefined);
    for (const call of [
      () => backend.queue.enqueue("q", request("r")),
      () => backend.results.retrieve("r"),
      () => backend.topics.publish("t", 1),
      () => backend.catalogue.entries(),
    ]) {
      const error = await rejection(call());
      expect(NetworkError.isInstance(error)).to.equal(true);
      expect((error as NetworkError).message).to.match(/closed/);
    }
  });

  it("refuses invalid requests, naming the field", async () => {
    const queue = RequestQueue.inMemory();
    const cases: readonly (readonly [object, string])[] = [
      [{ v: 2 }, "v of a request must be 1, got: 2"],
      [{ requestId: "a\nb" }, "requestId must have 1 to 200 characters"],
      [{ requestId: "x".repeat(201) }, "requestId must have 1 to 200 characters"],
      [{ type: "JOB" }, 'type of a request must be one of "TASK", "TOOL", "RUN", got: JOB'],
      [{ priority: "URGENT" }, "priority of a request must be one of"],
      [{ task: " " }, "task of a request must be a text that is not blank"],
      [{ deadlineMs: -1 }, "deadlineMs of a request must be a positive number"],
      [{ inputs: [1] }, "inputs of a request must be an object, got: [1]"],
      [{ context: 5 }, "context of a request must be a text, got: 5"],
      [{ odd: 1n }, "A request must be JSON data"],
    ];
    for (const [change, message] of cases) {
      const error = await rejection(queue.enqueue("q", request("r", change)));
      expect(ValidationError.isInstance(error), message).to.equal(true);
      expect((error as Error).message).to.include(message);
    }
    expect(await queue.depth("q")).to.have.property("queued", 0);
  });

  it("refuses invalid options", async () => {
    const odd = (o: object) => (): unknown => RequestQueue.inMemory(o); // on purpose
    expect(odd({ ageingMs: 5 })).to.throw("Did you mean 'agingMs'?");
    expect(odd({ agingMs: 0 })).to.throw("agingMs must be a positive number");
    const queue = RequestQueue.inMemory();
    const wrong: readonly (() => Promise<unknown>)[] = [
      () => queue.dequeue("q", { timeoutMs: -1, leaseMs: 1 }),
      () => queue.dequeue("q", { timeoutMs: 1 } as never), // on purpose
      () => queue.dequeue("q", { timeoutMs: 1, leaseMs: 1, lease: 1 } as never), // on purpose
      () => queue.enqueue(" ", request("r")),
      () => queue.enqueue("q", request("r"), { maxQueued: -1 }),
    ];
    for (const call of wrong)
      expect(ValidationError.isInstance(await rejection(call()))).to.equal(true);
  });

  it("behaves like a simple model over any sequence of calls", async () => {
    const step = fc.oneof(
      fc.record({ op: fc.constant("enqueue" as const), id: fc.integer({ min: 0, max: 9 }), rank: fc.integer({ min: 0, max: 3 }) }), // prettier-ignore
      fc.record({ op: fc.constantFrom("dequeue", "acknowledge", "release", "delay", "dead", "redrive", "extend") }), // prettier-ignore
      fc.record({ op: fc.constant("step" as const), ms: fc.integer({ min: 1, max: 1_500 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new SteppingClock();
        const queue = RequestQueue.inMemory({ clock, agingMs: 100 });
        const model = new QueueModel();
        for (const each of steps) {
          if (each.op === "step")
            clock.step((each as { ms: number }).ms); // its record
          else await model.compare(queue, clock.monotonicMs(), each);
          const depth = await queue.depth("q");
          expect([depth.queued, depth.leased, depth.dead]).to.eql(
            model.counts(clock.monotonicMs()),
          );
        }
        await queue.close?.();
      }),
    );
  });
});

interface Modelled {
  readonly id: string;
  order: number;
  state: "QUEUED" | "LEASED" | "DEAD" | "DONE";
  /** End of the lease or of the delay. */
  until: number;
  attempt: number;
  readonly rank: number;
  seq: number;
}

/** A queue as a list that is searched. */
class QueueModel {
  readonly #all: Modelled[] = [];
  #lease: Lease | undefined;
  #seq = 0;

  counts(now: number): readonly number[] {
    this.#advance(now);
    return (["QUEUED", "LEASED", "DEAD"] as const).map(
      (state) => this.#all.filter((each) => each.state === state).length,
    );
  }

  async compare(
    queue: RequestQueue,
    now: number,
    { op, ...o }: { readonly op: string; readonly id?: number; readonly rank?: number },
  ): Promise<void> {
    this.#advance(now);
    if (op === "enqueue") return this.#enqueue(queue, now, `r${o.id}`, o.rank ?? 0);
    if (op === "dequeue") return this.#dequeue(queue, now);
    if (op === "redrive") return this.#redrive(queue, now);
    const lease = this.#lease;
    if (lease === undefined) return;
    const held = this.#all.find(
      ({ id, state, attempt }) =>
        id === lease.request.requestId && state === "LEASED" && attempt === lease.attempt,
    );
    expect(await act(queue, op, lease)).to.equal(held !== undefined);
    if (held === undefined) return;
    if (op === "extend") held.until = now + 1_000;
    else {
      held.state = op === "dead" ? "DEAD" : op === "acknowledge" ? "DONE" : "QUEUED";
      held.until = op === "delay" ? now + 700 : 0;
    }
  }

  async #enqueue(queue: RequestQueue, now: number, id: string, rank: number): Promise<void> {
    const known = this.#all.some((each) => each.id === id);
    const priority = (["CRITICAL", "HIGH", "NORMAL", "LOW"] as const)[rank];
    const { status } = await queue.enqueue("q", request(id, { priority }));
    expect(status).to.equal(known ? "DUPLICATE" : "ACCEPTED");
    const [order, seq] = [now + rank * 100, this.#seq];
    if (known) return;
    this.#seq++;
    this.#all.push({ id, order, state: "QUEUED", until: 0, attempt: 0, rank, seq });
  }

  async #dequeue(queue: RequestQueue, now: number): Promise<void> {
    const [next] = this.#all
      .filter(({ state, until }) => state === "QUEUED" && until <= now)
      .sort((a, b) => a.order - b.order || a.seq - b.seq);
    const lease = await queue.dequeue("q", { timeoutMs: 0, leaseMs: 1_000 });
    expect(lease?.request.requestId).to.equal(next?.id);
    if (next === undefined || lease === undefined) return;
    next.attempt++;
    expect(lease.attempt).to.equal(next.attempt);
    Object.assign(next, { state: "LEASED", until: now + 1_000 });
    this.#lease = lease;
  }

  async #redrive(queue: RequestQueue, now: number): Promise<void> {
    const dead = this.#all.find(({ state }) => state === "DEAD");
    expect(await queue.redrive("q", dead?.id ?? "none")).to.equal(dead !== undefined);
    if (dead === undefined) return;
    const [order, seq] = [now + dead.rank * 100, this.#seq++];
    Object.assign(dead, { state: "QUEUED", until: 0, attempt: 0, order, seq });
  }

  #advance(now: number): void {
    for (const each of this.#all)
      if (each.state === "LEASED" && each.until <= now)
        Object.assign(each, { state: "QUEUED", until: 0 });
  }
}

function act(queue: RequestQueue, op: string, lease: Lease): Promise<boolean> {
  if (op === "acknowledge") return queue.acknowledge(lease);
  if (op === "extend") return queue.extend(lease);
  if (op === "dead") return queue.deadLetter(lease, "poison");
  return queue.release(lease, op === "delay" ? { delayMs: 700 } : {});
}

describe("Transport", () => {
  it("refuses a request to another ensemble", async () => {
    const error = await rejection(Transport.inMemory("kitchen").send(request("r", { to: "bar" })));
    expect((error as Error).message).to.equal("to of the request must be 'kitchen', got: bar");
  });

  it("passes on events of the execution until the wait ends", async () => {
    const backend = NetworkBackend.inMemory();
    const kitchen = Transport.of("kitchen", backend);
    const seen: unknown[] = [];
    const waiting = kitchen.response("r", { timeoutMs: 50, onProgress: (p) => seen.push(p) });
    await Promise.resolve();
    await backend.topics.publish("progress.r", { done: 1 });
    await waiting;
    await backend.topics.publish("progress.r", { done: 2 });
    expect(seen).to.eql([{ done: 1 }]);
    await backend.close();
  });

  it("lists each shared task once, for any number of instances", async () => {
    const backend = NetworkBackend.inMemory();
    const meal = { name: "meal", type: "TASK", description: "Cooks" } as const;
    for (const instance of ["a", "b"])
      await backend.catalogue.announce(
        { ensemble: "kitchen", instance, capabilities: [meal, { ...meal, version: instance }] },
        1_000,
      );
    await backend.catalogue.announce(
      { ensemble: "bar", instance: "a", capabilities: [{ ...meal, name: "drink" }] },
      1_000,
    );
    expect(await Transport.of("kitchen", backend).capabilities()).to.eql([
      meal,
      { ...meal, version: "a" },
      { ...meal, version: "b" },
    ]);
  });
});

describe("NetworkBackend.of", () => {
  it("refuses parts that lack a method, and unknown parts", () => {
    const { queue, results } = NetworkBackend.inMemory();
    const odd = (o: object) => (): unknown =>
      NetworkBackend.of({ name: "odd", queue, results, ...o });
    expect(odd({ queue: {} })).to.throw("queue of a backend must have the method enqueue()");
    expect(odd({ results: undefined })).to.throw(
      "results of a backend must have the method store()",
    );
    expect(odd({ topic: 1 })).to.throw("Did you mean 'topics'?");
    expect(odd({ name: "" })).to.throw("name of a backend must not be blank");
  });

  it("closes all its parts, even if one fails", async () => {
    const closed: string[] = [];
    const { queue, results } = NetworkBackend.inMemory();
    const backend = NetworkBackend.of({
      name: "parts",
      queue: Object.assign(Object.create(queue) as typeof queue, {
        close: async () => Promise.reject(new Error("broken")),
      }),
      results: Object.assign(Object.create(results) as typeof results, {
        close: async () => void closed.push("results"),
      }),
    });
    expect(((await rejection(backend.close())) as Error).message).to.equal("broken");
    expect(closed).to.eql(["results"]);
  });
});
