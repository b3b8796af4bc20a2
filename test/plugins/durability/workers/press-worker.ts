// A worker that is killed. Argument: the JSON of `PressWorkerOptions`.
import { appendFileSync } from "node:fs";
import { durable } from "agentensemble/durability";
import { sharedLimits } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { press } from "./press.js";

/** The start options of a worker. */
export interface PressWorkerOptions {
  readonly url: string;
  readonly schema: string;
  readonly vendor: string;
  /** The file to which all workers append the leases that they lost. */
  readonly log: string;
  readonly leaseMs: number;
  /** Concurrent runs. */
  readonly slots: number;
}

const o = JSON.parse(process.argv[2] ?? "") as PressWorkerOptions; // written by startWorker()
const { url, schema, leaseMs } = o;
const backend = postgres({ url, schema });
const journal = openSqlJournal({ url, schema });
const ensemble = press(o.vendor, {
  plugins: [durable({ journal, leaseMs }), sharedLimits(backend)],
  maxConcurrentRequests: o.slots,
});
const service = await ensemble.start({
  backend,
  leaseMs,
  shareRun: true,
  maxAttempts: 1_000, // a kill is the fault of no request
  listeners: [
    ({ type }) => {
      if (type === "lease_lost") appendFileSync(o.log, "lost\n");
    },
  ],
});
await service.closed;
