// A worker of the map-reduce that is killed. Argument: the JSON of `DigestWorkerOptions`.
import { appendFileSync } from "node:fs";
import { durable } from "agentensemble/durability";
import { sharedLimits } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";
import { retry } from "agentensemble/resilience";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { digest, type DigestSize } from "./digest.js";

/** The start options of a worker. */
export interface DigestWorkerOptions extends DigestSize {
  readonly url: string;
  readonly schema: string;
  readonly vendor: string;
  /** The file to which all workers append lost leases as `lost`, and their memory as `{pid} {MiB}`. */
  readonly log: string;
  readonly leaseMs: number;
}

const REPORT_MS = 250;
const o = JSON.parse(process.argv[2] ?? "") as DigestWorkerOptions; // written by the test
const { url, schema, leaseMs } = o;
const backend = postgres({ url, schema });
const journal = openSqlJournal({ url, schema });
const ensemble = digest(o.vendor, o, {
  plugins: [durable({ journal, leaseMs }), sharedLimits(backend), retry({ maxAttempts: 10 })], // all workers connect at the same moment
});
let mostMiB = 0;
setInterval(() => {
  const MiB = Math.round(process.memoryUsage.rss() / 2 ** 20);
  if (MiB <= mostMiB) return;
  mostMiB = MiB;
  appendFileSync(o.log, `${process.pid} ${MiB}\n`);
}, REPORT_MS).unref();
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
