import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { Ensemble } from "../../src/index.js";
import { handlerTask, requests, resultOf } from "./support.js";

const TOTAL = 100_000;
const AT_ONCE = 20;
/** Tolerance for objects that are not collected yet, in bytes. */
const NOISE = 12_000_000;

describe("a service over many requests", function () {
  this.timeout(600_000);

  it("stores nothing of requests whose results have expired", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void; // the flag makes it
    const backend = NetworkBackend.inMemory({ idTtlMs: 1_000 });
    const echo = handlerTask(({ inputs }) => String(inputs["n"]));
    await using kitchen = new Ensemble({ name: "kitchen", shareTasks: { echo } });
    await using _service = await kitchen.start({ backend, resultTtlMs: 1_000 });
    const request = requests();
    const heaps: number[] = [];
    let done = 0;
    const work = async (): Promise<void> => {
      while (done < TOTAL) {
        const n = ++done;
        const one = request("echo", { inputs: { n } });
        await backend.queue.enqueue("kitchen", one);
        expect(await resultOf(backend, one.requestId)).to.include({ status: "COMPLETED" });
        if (n % (TOTAL / 10) !== 0) continue;
        collect();
        heaps.push(process.memoryUsage().heapUsed);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const [, settled = 0] = heaps;
    expect(Math.max(...heaps.slice(-3))).to.be.below(settled + NOISE);
  });
});
