import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { NetworkBackend as Backend } from "../../src/contracts/network.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { ServiceStateError } from "../../src/contracts/network-errors.js";
import { Ensemble, ValidationError } from "../../src/index.js";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import {
  aborted,
  ask,
  changedQueue,
  eventLog,
  gate,
  handlerTask,
  requests,
  resultOf,
} from "./support.js";

const echo = handlerTask(({ inputs }) =>
  JSON.stringify(inputs["context"] ?? "nothing").slice(1, -1),
);

describe("the life of a service", () => {
  it("passes through NEW, READY and STOPPED, and can begin again; start and stop are idempotent", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = new Ensemble({ name: "kitchen", shareTasks: { echo } });
    expect(kitchen.state).to.equal("NEW");
    await kitchen.stop();
    expect(kitchen.state).to.equal("NEW");
    const starting = kitchen.start({ backend });
    expect(kitchen.state).to.equal("STARTING");
    const [service, same] = await Promise.all([starting, kitchen.start({ backend })]);
    expect(same).to.equal(service);
    expect(await kitchen.start()).to.equal(service);
    expect([kitchen.state, service.state, service.url]).to.deep.equal([
      "READY",
      "READY",
      undefined,
    ]);
    await Promise.all([kitchen.stop(), kitchen.stop(), service.stop()]);
    await service.closed;
    expect(kitchen.state).to.equal("STOPPED");
    await using again = await kitchen.start({ backend });
    expect(again).not.to.equal(service);
    expect(await ask(backend, requests()("echo", { context: "soup" }))).to.include({
      result: "soup",
    });
  });

  it("does not affect run() in any state", async () => {
    await using kitchen = new Ensemble({ name: "kitchen", tasks: [handlerTask(() => "own")] });
    expect((await kitchen.run()).raw).to.equal("own");
    await using service = await kitchen.start();
    expect((await kitchen.run()).raw).to.equal("own");
    await service.stop();
    expect((await kitchen.run()).raw).to.equal("own");
  });

  it("requires a name, and known options", async () => {
    await using nameless = new Ensemble({ shareTasks: { echo } });
    expect(await rejection(nameless.start())).to.be.instanceOf(ValidationError);
    await using kitchen = new Ensemble({ name: "kitchen" });
    const misspelt = await rejection(kitchen.start({ backEnd: 1 } as never));
    expect(String(misspelt)).to.contain("Did you mean 'backend'?");
    expect(kitchen.state).to.equal("NEW");
  });

  it("is announced in the catalogue while it runs", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = new Ensemble({
      name: "kitchen",
      description: "Cooks",
      shareTasks: { echo: { task: echo, description: "Echoes", version: "2", tags: ["test"] } },
      shareRun: true,
      tasks: [echo],
    });
    await using service = await kitchen.start({ backend, instance: "a" });
    expect(await backend.catalogue.entries()).to.deep.equal([service.entry()]);
    expect(service.entry()).to.deep.equal({
      ensemble: "kitchen",
      instance: "a",
      description: "Cooks",
      maxQueuedRequests: 1_000,
      capabilities: [
        {
          name: "echo",
          type: "TASK",
          description: "Echoes",
          version: "2",
          tags: ["test"],
          inputSchema: { type: "object", properties: {}, required: [] },
        },
        { name: "run", type: "RUN", description: "Cooks", inputSchema: { type: "object" } },
      ],
    });
    await service.stop();
    expect(await backend.catalogue.entries()).to.deep.equal([]);
  });

  it("executes its own tasks for requests of type RUN, if it shares them", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = new Ensemble({
      name: "kitchen",
      tasks: [handlerTask(({ inputs }) => ({ cooked: inputs["dish"] }))],
      shareRun: true,
    });
    await using _service = await kitchen.start({ backend });
    const request = requests({ type: "RUN" })("run", { inputs: { dish: "soup" } });
    expect(await ask(backend, request)).to.deep.include({ parsed: { cooked: "soup" } });
  });
});

describe("the end of a service", () => {
  /** A service with one request that runs until `finish`, or until its signal aborts. */
  async function busy(backend: Backend, clock?: SteppingClock) {
    const [begun, done] = [gate(), gate<string>()];
    let reason: unknown;
    const wait = handlerTask(async ({ signal }) => {
      begun.open();
      return Promise.race([
        done.opened,
        aborted(signal).catch((error: unknown) => {
          reason = error;
          throw error;
        }),
      ]);
    });
    const log = eventLog();
    const kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { wait, echo },
      drainTimeoutMs: 5_000,
      plugins: clock === undefined ? [] : [clock.plugin()],
    });
    const service = await kitchen.start({ backend, listeners: [log.listener] });
    const request = requests()("wait");
    await backend.queue.enqueue("kitchen", request);
    await begun.opened;
    const reasonOf = (): unknown => reason;
    return { kitchen, service, request, log, finish: done.open, reasonOf };
  }

  it("waits for current runs, accepts no new requests, and keeps waiting requests in the queue", async () => {
    const backend = NetworkBackend.inMemory();
    const { kitchen, service, request, log, finish } = await busy(backend);
    const stopped = kitchen.stop();
    expect(service.state).to.equal("DRAINING");
    expect(await rejection(kitchen.start())).to.be.instanceOf(ServiceStateError);
    const later = requests()("echo", { requestId: "later" });
    await backend.queue.enqueue("kitchen", later);
    finish("done");
    await stopped;
    expect(await resultOf(backend, request.requestId)).to.include({ result: "done" });
    expect(await backend.queue.status("kitchen", "later")).to.equal("QUEUED");
    expect(log.shown().slice(-2)).to.deep.equal([
      `finished ${request.requestId} COMPLETED`,
      "STOPPED",
    ]);
    await kitchen.dispose();
  });

  it("returns unfinished requests without counting the delivery, and records no result", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const { kitchen, service, request, log, reasonOf } = await busy(backend, clock);
    const stopped = service.stop();
    await clock.advance(4_900);
    expect(service.state).to.equal("DRAINING");
    await clock.advance(200);
    await stopped;
    expect(reasonOf()).to.include({ isShutdown: true });
    expect(log.shown()).to.include(`request_released ${request.requestId}`);
    expect(await backend.results.retrieve(request.requestId)).to.equal(undefined);
    const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 0, leaseMs: 1_000 });
    expect(lease).to.include({ attempt: 1 });
    await kitchen.dispose();
  });

  it("is accelerated by a second stop with less time, and by the end of the ensemble", async () => {
    for (const hasten of ["stop", "dispose"] as const) {
      const backend = NetworkBackend.inMemory();
      const { kitchen, service, request } = await busy(backend);
      const stopped = service.stop();
      await (hasten === "stop" ? service.stop({ drainTimeoutMs: 0 }) : kitchen.dispose());
      await stopped;
      expect(await backend.queue.status("kitchen", request.requestId)).to.equal("QUEUED");
      await kitchen.dispose();
    }
  });

  it("rejects start() if it occurs during the start, and leaves nothing open", async () => {
    const backend = NetworkBackend.inMemory();
    const reached = gate();
    let answer: () => void = () => undefined;
    const queue = changedQueue(backend.queue, {
      depth: async (name) => {
        reached.open();
        await new Promise<void>((resolve) => (answer = resolve));
        return backend.queue.depth(name);
      },
    });
    await using kitchen = new Ensemble({ name: "kitchen", shareTasks: { echo } });
    const starting = kitchen.start({ backend: { ...backend, queue } });
    const refused = rejection(starting);
    await reached.opened;
    const stopped = kitchen.stop();
    answer();
    await stopped;
    expect(await refused).to.be.instanceOf(ServiceStateError);
    expect(kitchen.state).to.equal("NEW");
    expect(await backend.catalogue.entries()).to.deep.equal([]);
  });

  it("leaves no timer, no listener of signals and no subscription", async () => {
    const backend = NetworkBackend.inMemory();
    let subscriptions = 0;
    const counted =
      <A extends unknown[]>(subscribe: (...args: A) => Promise<() => void>) =>
      async (...args: A): Promise<() => void> => {
        const leave = await subscribe(...args);
        subscriptions++;
        return () => {
          subscriptions--;
          leave();
        };
      };
    const { results, topics } = backend;
    const watched: Backend = {
      ...backend,
      results: new Proxy(results, {
        get: (target, name) =>
          name === "subscribe"
            ? counted((...args: Parameters<typeof results.subscribe>) => results.subscribe(...args))
            : (Reflect.get(target, name) as () => unknown).bind(target),
      }),
      topics: {
        publish: (...args) => topics.publish(...args),
        subscribe: counted((...args: Parameters<typeof topics.subscribe>) =>
          topics.subscribe(...args),
        ),
      },
    };
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    await backend.queue.depth("kitchen"); // the timer of the test itself has begun
    const before = { signals: process.listenerCount("SIGTERM"), timers: timers() };
    const { kitchen, service, finish } = await busy(watched);
    expect(process.listenerCount("SIGTERM")).to.equal(before.signals + 1);
    expect(timers()).to.be.greaterThan(before.timers);
    expect(subscriptions).to.be.greaterThan(0);
    finish("done");
    await service.stop();
    expect(process.listenerCount("SIGTERM")).to.equal(before.signals);
    expect(subscriptions).to.equal(0);
    await kitchen.dispose();
    expect(timers()).to.equal(before.timers);
  });
});

describe("a service whose backend is unavailable", () => {
  it("waits for the backend at the start, and rejects after 30 seconds", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    let isAway = true;
    const queue = changedQueue(backend.queue, {
      depth: (name) =>
        isAway ? Promise.reject(new Error("connection refused")) : backend.queue.depth(name),
    });
    await using kitchen = new Ensemble({ name: "kitchen", plugins: [clock.plugin()] });
    const starting = kitchen.start({ backend: { ...backend, queue } });
    await clock.advance(10_000);
    isAway = false;
    await clock.advance(5_000);
    const service = await starting;
    expect(service.state).to.equal("READY");
    await service.stop();
    isAway = true;
    const failing = rejection(kitchen.start({ backend: { ...backend, queue } }));
    await clock.advance(40_000);
    expect(await failing).to.include({ code: "AE_NETWORK" });
  });

  it("names the failure of the backend, not the end of the last and shorter attempt", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    let attempts = 0;
    const queue = changedQueue(backend.queue, {
      depth: () =>
        attempts++ === 0
          ? Promise.reject(new Error("there is no such database"))
          : new Promise(() => undefined),
    });
    await using kitchen = new Ensemble({ name: "kitchen", plugins: [clock.plugin()] });
    const failing = rejection(kitchen.start({ backend: { ...backend, queue } }));
    await clock.advance(5_000);
    await clock.advance(30_000);
    expect(((await failing) as Error).cause).to.include({ message: "there is no such database" });
    expect(attempts).to.equal(2);
  });

  it("ends the start after 30 seconds, or at a stop, if it never answers", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const queue = changedQueue(backend.queue, { depth: () => new Promise(() => undefined) });
    await using kitchen = new Ensemble({ name: "kitchen", plugins: [clock.plugin()] });
    const late = rejection(kitchen.start({ backend: { ...backend, queue } }));
    await clock.advance(30_000);
    expect(await late).to.include({ code: "AE_NETWORK" });
    const catalogue = {
      announce: () => new Promise<void>(() => undefined),
      withdraw: async () => undefined,
      entries: async () => [],
    };
    const unannounced = rejection(kitchen.start({ backend: { ...backend, catalogue } }));
    await clock.advance(30_000);
    expect(await unannounced).to.include({ code: "AE_NETWORK" });
    const stopped = rejection(kitchen.start({ backend: { ...backend, queue } }));
    await clock.advance(1_000);
    await kitchen.stop();
    expect(await stopped).to.include({ code: "AE_SERVICE_STATE" });
  });

  it("does not prevent the end of a service if it never answers", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const catalogue = {
      announce: async () => undefined,
      withdraw: () => new Promise<void>(() => undefined),
      entries: async () => [],
    };
    const log = eventLog();
    await using kitchen = new Ensemble({ name: "kitchen", plugins: [clock.plugin()] });
    const service = await kitchen.start({
      backend: { ...backend, catalogue },
      listeners: [log.listener],
    });
    const stopped = service.stop();
    await clock.advance(5_000);
    await stopped;
    expect(log.shown().at(-1)).to.equal("STOPPED");
    expect(log.shown().join()).to.contain("There was no answer within 5000 ms");
  });

  it("continues to accept requests after its return, and delivers results finished in the meantime", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    let isAway = false;
    const unlessAway = <A extends unknown[], T>(work: (...args: A) => Promise<T>) => {
      return (...args: A): Promise<T> =>
        isAway ? Promise.reject(new Error("connection lost")) : work(...args);
    };
    const refused = gate();
    const queue = changedQueue(backend.queue, {
      dequeue: unlessAway((name, o) => backend.queue.dequeue(name, o)),
      extend: unlessAway((lease) => backend.queue.extend(lease)),
      acknowledge: unlessAway((lease) => backend.queue.acknowledge(lease)),
    });
    const results = new Proxy(backend.results, {
      get: (target, name) => {
        if (isAway) refused.open();
        return unlessAway((Reflect.get(target, name) as () => Promise<unknown>).bind(target));
      },
    });
    const [begun, done] = [gate(), gate<string>()];
    const wait = handlerTask(() => {
      begun.open();
      return done.opened;
    });
    const log = eventLog();
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { wait, echo },
      plugins: [clock.plugin()],
    });
    await using service = await kitchen.start({
      backend: { ...backend, queue, results },
      listeners: [log.listener],
    });
    const request = requests();
    const first = request("wait");
    await backend.queue.enqueue("kitchen", first);
    await begun.opened;
    isAway = true;
    await backend.queue.enqueue("kitchen", request("echo"));
    done.open("done");
    await refused.opened;
    await clock.advance(20_000);
    expect(await backend.results.retrieve(first.requestId)).to.equal(undefined);
    isAway = false;
    // Second by second, with real time for busy threads: a lease must not end while they are busy.
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await delay(5);
    }
    expect(await resultOf(backend, first.requestId)).to.include({ result: "done", attempt: 1 });
    expect((await service.stats()).depth).to.include({ queued: 0, leased: 0 });
    await until(() => log.shown().some((line) => line.startsWith("warning")));
  });
});
