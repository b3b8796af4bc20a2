// A service that is killed. Argument: the JSON of `ChaosWorkerOptions`.
import { Ensemble, Task } from "agentensemble";
import { durable, once } from "agentensemble/durability";
import { appendFileSync } from "node:fs";
import type { NetworkBackend } from "../../../../src/contracts/network.js";
import { sumIn, type ChaosStep, type ChaosWorkerOptions } from "./chaos-process.js";
import { pause } from "../../../support/time.js";
import { openChaosBackend } from "./chaos-place.js";

const o = JSON.parse(process.argv[2] ?? "") as ChaosWorkerOptions; // written by startWorker()

/** Written in one call: written lines remain when the process is killed. */
function note(...words: readonly (string | number)[]): void {
  appendFileSync(o.log, `${words.join(" ")}\n`);
}

async function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined); // the signal arrives in a moment
}

/** Ends the process at a step of its first delivery. */
function killAt({ queue, results }: NetworkBackend, step: ChaosStep): void {
  const { dequeue, acknowledge } = queue;
  const { store } = results;
  queue.dequeue = async (...args) => {
    const lease = await dequeue.apply(queue, args);
    return lease !== undefined && step === "taken" ? die() : lease;
  };
  results.store = async (...args) => {
    if (step === "before the result") await die();
    const kept = await store.apply(results, args);
    return step === "after the result" ? die() : kept;
  };
  queue.acknowledge = async (...args) => {
    if (step === "before the acknowledgement") await die();
    const held = await acknowledge.apply(queue, args);
    return step === "after the acknowledgement" ? die() : held;
  };
}

const add = new Task({
  name: "add",
  description: "Add {a} and {b}",
  async handler(ctx) {
    const { inputs } = ctx;
    if (o.journal === undefined) return sumIn(inputs);
    for (const call of ["first", "second"]) {
      const id = `${String(inputs["a"])}-${call}`;
      await once(ctx, call, () => {
        note("call", id);
        return pause(5);
      });
      note("kept", id);
    }
    return sumIn(inputs);
  },
});
const backend = await openChaosBackend(o.place);
if (o.step !== undefined) killAt(backend, o.step);
const service = await new Ensemble({
  name: o.ensemble,
  shareTasks: { add },
  maxConcurrentRequests: o.slots,
  plugins: o.journal === undefined ? [] : [durable({ url: o.journal, leaseMs: o.leaseMs })],
}).start({
  backend,
  leaseMs: o.leaseMs,
  maxAttempts: 1_000, // a kill is the fault of no request
  listeners: [
    (event) => {
      if (event.type === "request_started") note("started", event.requestId);
      else if (event.type === "request_finished")
        note("finished", event.requestId, event.recorded ? "recorded" : "late");
    },
  ],
});
await service.closed;
