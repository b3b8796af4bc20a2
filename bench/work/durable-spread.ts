// A map-reduce that is distributed over worker processes on PostgreSQL, with a model that has a
// realistic latency.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { Client } from "pg";
import { Transport } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";
import type { SpreadWorkerOptions } from "../processes/spread-worker.js";
import { POSTGRES } from "./durable-writes.js";

const WORKER = new URL("../processes/spread-worker.js", import.meta.url);
const SCHEMA = `ae_bench_spread_${process.pid}`;
const LATENCY_MS = 2_000;
/** The concurrent calls of one worker: tasks per unit, and units. */
const [UNIT, UNITS] = [10, 4];
const SLOTS = UNIT * UNITS;
/** Number of sequential calls of each slot. */
const WAVES = 5;
const LIMIT_MS = 10 * 60_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 };

/** The result of a number of workers. */
export interface SpreadSpeed {
  readonly itemsPerSecond: number;
  /** The time of the model calls alone, in percent of the elapsed time. */
  readonly efficiency: number;
}

/**
 * A vendor that answers after the latency. Records the time of the first request for an item and of
 * the last answer.
 */
class SlowVendor {
  readonly #server: Server;
  #firstMs: number | undefined;
  #lastMs = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        const isItem = body.includes("Read document") && !body.includes("Merge"); // reduces quote their items
        if (isItem) this.#firstMs ??= performance.now();
        setTimeout(() => {
          if (isItem) this.#lastMs = performance.now();
          response.setHeader("content-type", "application/json");
          response.end(ANSWER);
        }, LATENCY_MS);
      });
    });
  }

  async address(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  get elapsedMs(): number {
    return this.#lastMs - (this.#firstMs ?? Number.NaN);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const ANSWER = JSON.stringify({
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1_770_000_000, model: "m" },
  choices: [
    { index: 0, message: { role: "assistant", content: "It was read." }, finish_reason: "stop" },
  ],
  usage: USAGE,
});

/** Returns whether the server of the tests is available. */
export async function hasPostgres(): Promise<boolean> {
  const client = new Client({ connectionString: POSTGRES, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined); // it was never connected
  }
}

/** Executes a run with this number of started workers. Reduces do not count. */
export async function spreadOver(workers: number): Promise<SpreadSpeed> {
  const items = workers * SLOTS * WAVES;
  const name = `digest-${workers}`;
  const vendor = new SlowVendor();
  const place = { url: POSTGRES, schema: SCHEMA };
  const more = { vendor: await vendor.address(), name, items, unit: UNIT, units: UNITS };
  const options: SpreadWorkerOptions = { ...place, ...more };
  const backend = postgres(place);
  const fleet: ChildProcess[] = [];
  try {
    for (let n = 0; n < workers; n++) {
      const worker = fork(WORKER, [JSON.stringify(options)]);
      fleet.push(worker);
      await once(worker, "message");
    }
    const transport = Transport.of(name, backend);
    const request = { v: 1, requestId: name, from: "bench", to: name } as const;
    await transport.send({ ...request, type: "RUN", task: "run" });
    const response = await transport.response(name, { timeoutMs: LIMIT_MS });
    if (response?.status !== "COMPLETED")
      throw new Error(`The run is ${response?.status}: ${response?.error}`);
    return {
      itemsPerSecond: (items * 1_000) / vendor.elapsedMs,
      efficiency: (100 * WAVES * LATENCY_MS) / vendor.elapsedMs,
    };
  } finally {
    await Promise.all(fleet.map(ended));
    await backend.close();
    vendor.close();
  }
}

async function ended(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const closed = once(worker, "close");
  worker.kill("SIGKILL");
  await closed;
}

/** Removes the data of the runs. */
export async function dropSpread(): Promise<void> {
  const client = new Client({ connectionString: POSTGRES });
  await client.connect();
  await client.query(`drop schema if exists "${SCHEMA}" cascade`);
  await client.end();
}
