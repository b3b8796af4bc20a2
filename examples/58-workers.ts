// Two workers with one database. One worker is stopped during a run, and the other continues the
// run. Finished work is not repeated. With DATABASE_URL, that server stores requests and runs, and
// workers of other processes and machines can take part. Without it, this process stores them.
// Run it: npm run example -- 58
import { Ensemble, type Plugin, Task } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { NetworkBackend, sharedLimits, Transport } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";

const url = process.env["DATABASE_URL"];
const backend = url === undefined ? NetworkBackend.inMemory() : postgres({ url });
const journal = Journal.inMemory();
const plugins = (): Plugin[] =>
  url === undefined ? [durable({ journal })] : [durable({ url }), sharedLimits(backend)];
const requestId = `order-17-${process.pid}`;
const reached = new Set<() => void>();
let isOpen = false;

/** A worker as each process would start it. */
function worker(name: string): Ensemble {
  const read = new Task({
    name: "read",
    description: "Read order {order}",
    handler: ({ inputs }) => {
      console.log(`${name} reads order ${String(inputs["order"])}`);
      return `order ${String(inputs["order"])}`;
    },
  });
  const pack = new Task({
    name: "pack",
    description: "Pack it",
    context: [read],
    handler: async ({ getOutput, signal }) => {
      for (const tell of reached) tell();
      while (!isOpen) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return `${name} has packed ${getOutput(read).raw}`;
    },
  });
  return new Ensemble({
    name: "packing",
    tasks: [read, pack],
    plugins: plugins(),
    drainTimeoutMs: 0,
  });
}

const orders = Transport.of("packing", backend);
await orders.send({
  ...{ v: 1, requestId, from: "shop", to: "packing" },
  ...{ type: "RUN", task: "run", inputs: { order: 17 } },
});
console.log("submitted before any worker runs:", await backend.queue.status("packing", requestId));

const isPacking = new Promise<void>((resolve) => reached.add(resolve));
await using first = worker("the first worker");
const service = await first.start({ backend, shareRun: true, signals: false });
await isPacking;
await service.stop(); // its drain time is over at once, so the run is returned to the queue
console.log("after the first has stopped:", await backend.queue.status("packing", requestId));

isOpen = true;
await using second = worker("the second worker");
await using _running = await second.start({ backend, shareRun: true, signals: false });
const response = await orders.response(requestId, { timeoutMs: 60_000 });
console.log(`${response?.result ?? "no result"} (attempt ${response?.attempt ?? 0})`);
await second.stop();
await backend.close();
