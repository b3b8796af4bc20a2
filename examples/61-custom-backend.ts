// A custom queue and result store. support/map-backend.ts uses two maps. Another backend could use
// two tables of a database. The suites of agentensemble/testing check the parts. Here they store
// the requests of a service.
// Run it: npm run example -- 61
import { Ensemble, Task } from "agentensemble";
import { network, NetworkBackend } from "agentensemble/network";
import { MapQueue, MapResults } from "./support/map-backend.js";

const backend = NetworkBackend.of({ name: "maps", queue: new MapQueue(), results: new MapResults() }); // prettier-ignore
const upper = new Task({
  description: "Write {context} in capitals",
  handler: ({ inputs }) => String(inputs["context"]).toUpperCase(),
});
const office = new Ensemble({ name: "office", shareTasks: { upper } });
await using service = await office.start({ backend, signals: false });
const { network: calls } = network({ name: "shop", backend });
const texts = ["one", "two", "three"];
const responses = await Promise.all(
  texts.map((context) => calls.request("office", "upper", { context, requestId: context })),
);
console.log(responses.map(({ result }) => result).join(", "));
console.log(`done: ${await backend.queue.status("office", "two")}`);
await service.stop();
await office.dispose();
