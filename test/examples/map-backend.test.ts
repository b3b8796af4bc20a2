import { requestQueueContract, resultStoreContract } from "agentensemble/testing";
import { MapQueue, MapResults } from "../../examples/support/map-backend.js";

requestQueueContract("of the example", {
  create: () => ({ queue: new MapQueue() }),
  capabilities: { priorities: false },
});
resultStoreContract("of the example", { create: () => ({ store: new MapResults() }) });
