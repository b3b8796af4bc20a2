import type { Lease, RequestQueue, WorkRequest } from "agentensemble";
import { RequestQueue as Queues } from "agentensemble/network";
import type { RequestQueueContractOptions } from "agentensemble/testing";
import { requestQueueContract } from "agentensemble/testing";
import { expect } from "chai";
import { failuresOf, testsOf } from "./failures-of.js";

/** A correct queue whose methods can be replaced. */
function queueWith(
  broken: (sound: RequestQueue) => Partial<RequestQueue>,
  agingMs = 60_000,
): RequestQueue {
  const sound = Queues.inMemory({ agingMs });
  return {
    enqueue: (queue, request, o) => sound.enqueue(queue, request, o),
    dequeue: (queue, o) => sound.dequeue(queue, o),
    extend: (lease, ms) => sound.extend(lease, ms),
    acknowledge: (lease) => sound.acknowledge(lease),
    release: (lease, o) => sound.release(lease, o),
    deadLetter: (lease, reason) => sound.deadLetter(lease, reason),
    deadLetters: (queue) => sound.deadLetters(queue),
    redrive: (queue, id) => sound.redrive(queue, id),
    status: (queue, id) => sound.status(queue, id),
    depth: (queue) => sound.depth(queue),
    close: async () => sound.close?.(),
    ...broken(sound),
  };
}

type Broken = (sound: RequestQueue) => Partial<RequestQueue>;

/** Changes each lease that is delivered. */
const delivering =
  (change: (lease: Lease) => Lease): Broken =>
  (sound) => ({
    dequeue: async (queue, o) => {
      const lease = await sound.dequeue(queue, o);
      return lease && change(lease);
    },
  });

/** Changes each request that is accepted. */
const accepting =
  (change: (request: WorkRequest, count: number) => WorkRequest): Broken =>
  (sound) => {
    let count = 0;
    return { enqueue: (queue, request, o) => sound.enqueue(queue, change(request, count++), o) };
  };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The faults of a queue, by the check that must find each. */
const FAULTS: Readonly<Record<string, Broken>> = {
  "delivers a complete request once, with unknown fields": accepting(
    ({ vendorField: _, ...request }) => request, // without an unknown field
  ),
  "keeps a request unchanged when the caller changes it later": (sound) => {
    const given = new Map<string, WorkRequest>();
    return {
      enqueue: (queue, request, o) => {
        given.set(request.requestId, request);
        return sound.enqueue(queue, request, o);
      },
      dequeue: async (queue, o) => {
        const lease = await sound.dequeue(queue, o);
        const request = given.get(lease?.request.requestId ?? "");
        return lease && { ...lease, request: request ?? lease.request };
      },
    };
  },
  "accepts an id once, from six concurrent clients and after the request is done": (sound) => ({
    enqueue: async (...args) => {
      const { status } = await sound.enqueue(...args);
      return { status: status === "DUPLICATE" ? "ACCEPTED" : status };
    },
  }),
  "refuses a known id with different content, also after the request is done": (sound) => ({
    enqueue: (...args) => sound.enqueue(...args).catch(() => ({ status: "DUPLICATE" })),
  }),
  "keeps queues separate": (sound) => ({
    enqueue: (_queue, request, o) => sound.enqueue("kitchen", request, o),
  }),
  "keeps 1 MiB of text, any Unicode, and unusual names as ids and fields": accepting((request) => ({
    ...request,
    context: request.context?.slice(0, 65_536),
  })),
  "delivers in the order of acceptance": accepting((request, count) => ({
    ...request,
    priority: count % 2 === 0 ? "NORMAL" : "HIGH",
  })),
  "delivers higher priorities first": accepting((request) => ({ ...request, priority: "NORMAL" })),
  "delivers a LOW request after at most three times agingMs": () => ({}), // made without agingMs
  "accepts no more than maxQueued requests, and keeps nothing of a refused request": (sound) => ({
    enqueue: (queue, request) => sound.enqueue(queue, request),
  }),
  "accepts exactly maxQueued of fifty concurrent requests": (sound) => ({
    enqueue: async (queue, request, { maxQueued = Infinity } = {}) => {
      const { queued } = await sound.depth(queue);
      await pause(1);
      return queued >= maxQueued ? { status: "FULL" } : sound.enqueue(queue, request);
    },
  }),
  "ends a wait after its time, and immediately when its signal aborts": (sound) => ({
    dequeue: (queue, { signal: _, ...o }) => sound.dequeue(queue, o),
  }),
  "delivers nothing to a consumer whose wait was aborted": (sound) => {
    let consumers = 0;
    return {
      dequeue: async (queue, { signal, ...o }) => {
        if (consumers++ > 0) return undefined;
        void sound.dequeue(queue, o);
        return new Promise((resolve) =>
          signal?.addEventListener("abort", () => resolve(undefined)),
        );
      },
    };
  },
  "delivers to a consumer that waits in another client": (sound) => ({
    dequeue: async (queue, o) => {
      const first = await sound.dequeue(queue, { ...o, timeoutMs: 0 });
      if (first !== undefined || o.timeoutMs < 2_500) return first;
      await pause(2_500);
      return sound.dequeue(queue, { ...o, timeoutMs: 0 });
    },
  }),
  "delivers to each of several waiting consumers": (sound) => {
    let waiting = 0;
    return {
      dequeue: async (queue, o) => {
        if (waiting > 0) return undefined;
        waiting++;
        return sound.dequeue(queue, o).finally(() => waiting--);
      },
    };
  },
  "delivers each request to only one of several consumers": (sound) => {
    let last: Lease | undefined;
    let count = 0;
    return {
      dequeue: async (queue, o) => {
        if (last !== undefined && ++count % 5 === 0) return last;
        return (last = await sound.dequeue(queue, o));
      },
    };
  },
  "delivers again after a lease expires, with the next attempt and another token": delivering(
    (lease) => ({ ...lease, attempt: 1 }),
  ),
  "delivers after a lease expires to a consumer that was already waiting": delivering((lease) => ({
    ...lease,
    attempt: 1,
  })),
  "refuses every operation of a lost lease": (sound) => ({
    acknowledge: (lease) => sound.acknowledge(lease).then(() => true),
  }),
  "keeps an extended lease": () => ({ extend: async () => true }),
  "extends a lease by its own duration if none is given": (sound) => ({
    extend: async (lease, ms) => ms !== undefined && sound.extend(lease, ms),
  }),
  "immediately returns a released request to its place, and counts its delivery": (sound) => ({
    release: (lease, o) => sound.release(lease, { ...o, delayMs: 200 }),
  }),
  "does not count a delivery that was released without blame": (sound) => ({
    release: (lease, { delayMs } = {}) => sound.release(lease, { delayMs }),
  }),
  "delivers a request that was released with a delay after that delay": (sound) => ({
    release: (lease, { blame } = {}) => sound.release(lease, { blame }),
  }),
  "keeps 1,500 characters of the reason of a dead letter": (sound) => ({
    deadLetter: (lease, reason) => sound.deadLetter(lease, reason.slice(0, 100)),
  }),
  "keeps dead letters, and delivers a redriven request again": (sound) => ({
    redrive: (queue, id) => sound.redrive(queue, id).then(() => true),
  }),
  "reports states and depth": (sound) => ({
    status: async (queue, id) => {
      const state = await sound.status(queue, id);
      return state === "DEAD" ? "DONE" : state;
    },
  }),
  "keeps queued, known and dead requests after it was closed": () => ({}), // opens empty
};

const underTest = (broken: Broken): RequestQueueContractOptions => ({
  create: () => ({ queue: queueWith(broken), reopen: () => queueWith(broken) }),
  reopens: true,
});

describe("requestQueueContract", () => {
  for (const [check, broken] of Object.entries(FAULTS))
    it(`detects a queue that breaks: ${check}`, async function () {
      this.timeout(30_000);
      const failed = await failuresOf(
        () => requestQueueContract("under test", underTest(broken)),
        check,
      );
      expect(failed).to.deep.equal([check]);
    });

  it("has no check without a planted fault", () => {
    const tests = testsOf(() =>
      requestQueueContract(
        "under test",
        underTest(() => ({})),
      ),
    );
    expect(tests.map(({ title }) => title)).to.have.members(Object.keys(FAULTS));
  });

  it("omits the features that an engine declares as missing", () => {
    const titles = (capabilities: object): readonly string[] =>
      testsOf(() =>
        requestQueueContract("under test", { ...underTest(() => ({})), capabilities }),
      ).map(({ title }) => title);
    const all = titles({});
    const lacking = (capabilities: object): readonly string[] =>
      all.filter((title) => !titles(capabilities).includes(title));
    expect(lacking({ priorities: false })).to.deep.equal([
      "delivers higher priorities first",
      "delivers a LOW request after at most three times agingMs",
    ]);
    expect(lacking({ ageing: false })).to.deep.equal([
      "delivers a LOW request after at most three times agingMs",
    ]);
    expect(lacking({ exactCapacity: false })).to.deep.equal([
      "accepts exactly maxQueued of fifty concurrent requests",
    ]);
  });

  it("consumes with one client if an engine allows only one per process", async () => {
    const consuming = new Set<RequestQueue>();
    const client = (sound: RequestQueue): RequestQueue => {
      const own: RequestQueue = {
        ...queueWith(() => sound),
        enqueue: (...args) => sound.enqueue(...args),
        dequeue: (...args) => {
          consuming.add(own);
          return sound.dequeue(...args);
        },
        acknowledge: (lease) => sound.acknowledge(lease),
        close: async () => undefined,
      };
      return own;
    };
    const failed = await failuresOf(
      () =>
        requestQueueContract("under test", {
          create: () => {
            const sound = Queues.inMemory();
            return { queue: client(sound), another: () => client(sound) };
          },
          capabilities: { consumersPerProcess: 1 },
        }),
      "delivers each request to only one of several consumers",
    );
    expect([failed, consuming.size]).to.deep.equal([[], 1]);
  });

  it("refuses unknown options", () => {
    const odd = (o: object) => (): void => requestQueueContract("odd", o as never); // on purpose
    expect(odd({ creates: () => undefined })).to.throw("Did you mean 'create'?");
    expect(odd({ capabilities: { aging: false } })).to.throw("Did you mean 'ageing'?");
    expect(odd({ leaseMs: -1 })).to.throw("leaseMs must be a positive number");
  });
});
