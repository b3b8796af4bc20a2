import type { Catalogue, ResultStore, Topics, Transport, WorkResponse } from "agentensemble";
import {
  NetworkBackend,
  ResultStore as Stores,
  Transport as Transports,
} from "agentensemble/network";
import {
  catalogueContract,
  resultStoreContract,
  topicsContract,
  transportContract,
} from "agentensemble/testing";
import { expect } from "chai";
import { failuresOf, testsOf } from "./failures-of.js";

type Broken<T> = (sound: T) => Partial<T>;

const LONG_MS = 60_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function storeWith(broken: Broken<ResultStore>, sound = Stores.inMemory()): ResultStore {
  return {
    store: (...args) => sound.store(...args),
    retrieve: (id) => sound.retrieve(id),
    forget: (id) => sound.forget(id),
    subscribe: (...args) => sound.subscribe(...args),
    close: async () => sound.close?.(),
    ...broken(sound),
  };
}

const RESULT_FAULTS: Readonly<Record<string, Broken<ResultStore>>> = {
  "keeps a complete result, with unknown fields": (sound) => ({
    store: (id, { vendorField: _, ...response }, ttlMs) => sound.store(id, response, ttlMs), // without an unknown field
  }),
  "keeps a result unchanged when the caller changes it later": () => {
    const kept = new Map<string, WorkResponse>();
    return {
      store: async (id, response) => (kept.set(id, response), true),
      retrieve: async (id) => kept.get(id),
    };
  },
  "keeps the first of four results that are stored concurrently": (sound) => ({
    store: (...args) => sound.store(...args).then(() => true),
  }),
  "forgets a result, and then accepts another": () => ({ forget: async () => undefined }),
  "removes an expired result": (sound) => ({
    store: (id, response) => sound.store(id, response, LONG_MS),
  }),
  "keeps 8 MB, any Unicode, and unusual names as ids": (sound) => ({
    store: (id, response, ttlMs) => {
      const result = response.result?.slice(0, 1 << 20);
      return sound.store(id, { ...response, result }, ttlMs);
    },
  }),
  "calls a subscriber of another client once, when the result is stored": (sound) => ({
    subscribe: (id, callback) =>
      sound.subscribe(id, (response) => {
        callback(response);
        callback(response);
      }),
  }),
  "calls a subscriber immediately if there is a result": (sound) => ({
    subscribe: async (id, callback) =>
      (await sound.retrieve(id)) === undefined ? sound.subscribe(id, callback) : () => undefined,
  }),
  "calls a subscriber exactly once in forty races of storing and subscribing": (sound) => ({
    subscribe: async (id, callback) => {
      const there = await sound.retrieve(id);
      const leave = await sound.subscribe(id, callback);
      if (there !== undefined) callback(there);
      return leave;
    },
  }),
  "calls no subscriber that has unsubscribed, and calls the next after one that fails": (
    sound,
  ) => ({
    subscribe: async (...args) => {
      await sound.subscribe(...args);
      return () => undefined;
    },
  }),
  "keeps its results after it was closed": () => ({}), // opens empty
};

function topicsWith(broken: Broken<Topics>): Topics {
  const sound = NetworkBackend.inMemory().topics;
  return {
    publish: (...args) => sound.publish(...args),
    subscribe: (...args) => sound.subscribe(...args),
    ...broken(sound),
  };
}

const TOPIC_FAULTS: Readonly<Record<string, Broken<Topics>>> = {
  "delivers a message to each subscriber of its topic, in each client": (sound) => ({
    publish: async (topic, message) => {
      await sound.publish(topic, message);
      await sound.publish(topic.slice(0, -1), message);
    },
  }),
  "delivers nothing to an unsubscribed listener, and delivers to the next after one that fails": (
    sound,
  ) => ({
    subscribe: async (...args) => {
      await sound.subscribe(...args);
      return () => undefined;
    },
  }),
  "accepts names and values of all kinds": (sound) => ({
    publish: (topic, message) => sound.publish(topic, message === 0 ? null : message),
  }),
  "publishes to a topic without subscribers": () => ({
    publish: async () => Promise.reject(new Error("no subscriber, on purpose")),
  }),
  "refuses messages above 4 KiB and messages without a JSON form": () => ({
    publish: async () => undefined,
  }),
};

function catalogueWith(broken: Broken<Catalogue>): Catalogue {
  const sound = NetworkBackend.inMemory().catalogue;
  return {
    announce: (...args) => sound.announce(...args),
    withdraw: (...args) => sound.withdraw(...args),
    entries: () => sound.entries(),
    ...broken(sound),
  };
}

const CATALOGUE_FAULTS: Readonly<Record<string, Broken<Catalogue>>> = {
  "returns each announced instance completely to each client": (sound) => ({
    announce: ({ url: _, ...entry }, ttlMs) => sound.announce(entry, ttlMs),
  }),
  "replaces an entry that is announced again": (sound) => {
    const known = new Set<string>();
    return {
      announce: async (entry, ttlMs) => {
        if (!known.has(entry.instance)) await sound.announce(entry, ttlMs);
        known.add(entry.instance);
      },
    };
  },
  "removes only the instance that is withdrawn": (sound) => ({
    withdraw: async (ensemble) => {
      for (const { instance } of await sound.entries()) await sound.withdraw(ensemble, instance);
    },
  }),
  "removes an expired entry": (sound) => ({
    announce: (entry) => sound.announce(entry, LONG_MS),
  }),
  "distinguishes names that are equal when joined": (sound) => ({
    withdraw: async (ensemble, instance) => {
      for (const entry of await sound.entries())
        if (`${entry.ensemble}.${entry.instance}` === `${ensemble}.${instance}`)
          await sound.withdraw(entry.ensemble, entry.instance);
    },
  }),
};

function transportWith(broken: Broken<Transport>): Transport {
  const sound = Transports.inMemory("kitchen");
  return {
    name: sound.name,
    send: (request) => sound.send(request),
    response: (...args) => sound.response(...args),
    decide: (...args) => sound.decide(...args),
    cancel: (...args) => sound.cancel(...args),
    capabilities: () => sound.capabilities(),
    receive: (o) => sound.receive(o),
    deliver: (...args) => sound.deliver(...args),
    close: () => sound.close(),
    ...broken(sound),
  };
}

const TRANSPORT_FAULTS: Readonly<Record<string, Broken<Transport>>> = {
  "delivers a request to the ensemble, and its result to the waiting caller": (sound) => ({
    send: ({ inputs: _, ...request }) => sound.send({ ...request, v: 1 } as never), // without inputs
  }),
  "returns the same result to a caller that sends again or asks later": (sound) => {
    const asked = new Set<string>();
    return {
      response: async (id, o) => {
        const known = asked.has(id);
        asked.add(id);
        return known ? undefined : sound.response(id, o);
      },
    };
  },
  "keeps the first of two results": (sound) => ({
    deliver: (...args) => sound.deliver(...args).then(() => true),
  }),
  "ends a wait after its time, and immediately when its signal aborts": (sound) => ({
    response: (id, { signal: _, ...o }) =>
      sound.response(id, { ...o, timeoutMs: Math.min(o.timeoutMs, 2_100) }),
  }),
  "cancels a request once, and refuses the result of its execution": (sound) => ({
    cancel: (id, reason) => sound.cancel(id, reason).then(() => true),
  }),
  "cancels a waiting request, and no unknown or finished request": () => ({
    cancel: async () => true,
  }),
  "returns no capabilities if no instance runs": () => ({
    capabilities: async () => [{ name: "x", type: "TASK", description: "x" }],
  }),
};

/** A suite, its faults, and its registration with one of them. */
function planted<T>(
  suite: string,
  faults: Readonly<Record<string, Broken<T>>>,
  register: (broken: Broken<T>) => void,
): void {
  describe(suite, () => {
    for (const [check, broken] of Object.entries(faults))
      it(`detects the violation: ${check}`, async function () {
        this.timeout(30_000);
        expect(await failuresOf(() => register(broken), check)).to.deep.equal([check]);
        await pause(150); // a wait that the check gave up ends
      });
    it("has no check without a planted fault", () => {
      const titles = testsOf(() => register(() => ({}))).map(({ title }) => title);
      expect(titles).to.have.members(Object.keys(faults));
    });
  });
}

planted("resultStoreContract", RESULT_FAULTS, (broken) =>
  resultStoreContract("under test", {
    create: () => ({ store: storeWith(broken), reopen: () => storeWith(broken) }),
    reopens: true,
  }),
);
planted("topicsContract", TOPIC_FAULTS, (broken) =>
  topicsContract("under test", { create: () => ({ topics: topicsWith(broken) }) }),
);
planted("catalogueContract", CATALOGUE_FAULTS, (broken) =>
  catalogueContract("under test", { create: () => ({ catalogue: catalogueWith(broken) }) }),
);
planted("transportContract", TRANSPORT_FAULTS, (broken) =>
  transportContract("under test", { create: () => ({ transport: transportWith(broken) }) }),
);

describe("the suites of services", () => {
  it("detect a subscription that does not end", async () => {
    const failed = await failuresOf(
      () =>
        resultStoreContract("under test", {
          create: () => ({ store: Stores.inMemory(), subscriptions: () => 1 }),
        }),
      "keeps a complete result, with unknown fields",
    );
    expect(failed.length).to.equal(1);
  });
  it("refuse unknown options", () => {
    for (const suite of [resultStoreContract, topicsContract, catalogueContract, transportContract])
      expect(() => suite("odd", { creates: () => undefined } as never)).to.throw(
        "Did you mean 'create'?",
      );
  });
});
