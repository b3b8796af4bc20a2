// A worker of the measured map-reduce. Argument: the JSON of `SpreadWorkerOptions`. Sends a message
// when it accepts requests, and ends with its parent.
import { Agent, MapReduceEnsemble, Task } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { sharedLimits } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";
import { openai } from "agentensemble/providers/openai";

/** The options of a worker. */
export interface SpreadWorkerOptions {
  readonly url: string;
  readonly schema: string;
  readonly vendor: string;
  readonly name: string;
  readonly items: number;
  /** Number of tasks of one unit, and of concurrent units of one worker. */
  readonly unit: number;
  readonly units: number;
}

const CHUNK = 20;
const o = JSON.parse(process.argv[2] ?? "") as SpreadWorkerOptions; // written by the parent
const { url, schema } = o;
const backend = postgres({ url, schema });
const agent = new Agent({ role: "Reader", goal: "Read well" });
const ensemble = new MapReduceEnsemble({
  name: o.name,
  model: openai("m", { baseURL: o.vendor, apiKey: "key" }),
  items: Array.from({ length: o.items }, (_, n) => n),
  chunkSize: CHUNK,
  mapTask: (n) => new Task({ description: `Read document ${n}`, agent }),
  reduceTask: (tasks) => new Task({ description: "Merge", context: tasks, agent }),
  maxConcurrency: o.items,
  spread: { tasks: "map", size: o.unit, concurrency: o.units },
  plugins: [durable({ journal: Journal.sql({ url, schema }) }), sharedLimits(backend)],
}).toEnsemble();
const service = await ensemble.start({ backend, shareRun: true });
process.once("disconnect", () => process.exit());
process.send?.("ready");
await service.closed;
