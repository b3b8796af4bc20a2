import { NetworkBackend, RequestQueue, ResultStore, Transport } from "agentensemble/network";
import {
  catalogueContract,
  requestQueueContract,
  resultStoreContract,
  topicsContract,
  transportContract,
} from "agentensemble/testing";
import { LocalResults } from "../../../../src/plugins/network/shared/local-results.js";
import { systemClock } from "../../../../src/util/runtime.js";

requestQueueContract("in memory", {
  create: ({ agingMs }) => ({ queue: RequestQueue.inMemory({ agingMs }) }),
});
resultStoreContract("in memory", {
  create: () => {
    const store = new LocalResults({ clock: systemClock });
    return { store, subscriptions: () => store.subscribed };
  },
});
topicsContract("in memory", { create: () => ({ topics: NetworkBackend.inMemory().topics }) });
catalogueContract("in memory", {
  create: () => ({ catalogue: NetworkBackend.inMemory().catalogue }),
});
transportContract("in memory", { create: () => ({ transport: Transport.inMemory("kitchen") }) });
transportContract("over the parts of a backend", {
  create: () => {
    const queue = RequestQueue.inMemory();
    const backend = NetworkBackend.of({ name: "parts", queue, results: ResultStore.inMemory() });
    return {
      transport: Transport.of("kitchen", backend),
      another: () => Transport.of("kitchen", backend),
      dispose: () => backend.close(),
    };
  },
});
