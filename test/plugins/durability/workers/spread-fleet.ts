// A map-reduce over workers on PostgreSQL, some of which are killed, and its costs.
import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type NetworkBackend, Transport } from "../../../../src/network.js";
import { postgres } from "../../../../src/network-postgres.js";
import { randomOf } from "../../../support/fuzzed-teams.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { CountingWorld, sumOf } from "../kills/counting-world.js";
import { digest, DIGEST, digestTasks, type DigestSize } from "./digest.js";
import type { DigestWorkerOptions } from "./digest-worker.js";
import { AnsweredCalls, Fleet, insisted } from "./fleet.js";

/** The work, and the events during the work. */
export interface SpreadPlan extends DigestSize {
  readonly url: string;
  readonly schema: string;
  readonly workers: number;
  readonly kills: number;
  readonly latencyMs: number;
  /** Default 3,000. */
  readonly leaseMs?: number;
  /**
   * The limit of each worker's old generation, which also limits the young one. Default: that of
   * Node.
   */
  readonly heapMiB?: number;
  /** Compares the result with that of an undisturbed run, which repeats all calls. */
  readonly compares: boolean;
}

/** The costs of a plan. */
export interface SpreadReport {
  readonly seconds: number;
  /** Calls that were repeated because they were in flight at a kill. */
  readonly repeated: number;
  readonly paidAgain: number;
  readonly lostLeases: number;
  /** The memory of the largest process. */
  readonly mostMiB: number;
}

const LEASE_MS = 3_000;
const PROGRAM = fileURLToPath(new URL("./digest-worker.js", import.meta.url));
const LIMIT_MS = 60 * 60_000;

async function undisturbedResult(plan: SpreadPlan): Promise<string> {
  const world = await CountingWorld.start(0);
  await using ensemble = digest(world.outside("").vendor, plan);
  try {
    return (await ensemble.run()).raw;
  } finally {
    await world.close();
  }
}

/** Executes a plan, and expects no lost run and no repeated finished call. */
export async function expectSpread(plan: SpreadPlan): Promise<SpreadReport> {
  const { url, schema, workers, kills, unit, units, window, items } = plan;
  const seed = Number(process.env["FUZZ_SEED"] ?? randomInt(2 ** 31));
  const random = randomOf(seed);
  const whole = plan.compares ? await undisturbedResult(plan) : undefined;
  const tasks = digestTasks(items);
  const world = await CountingWorld.start(plan.latencyMs);
  const log = join(temporaryFolder(), "log");
  writeFileSync(log, "");
  const backend = postgres({ url, schema });
  const answered = new AnsweredCalls(plan, world.paid);
  const { vendor } = world.outside("");
  const { leaseMs = LEASE_MS } = plan;
  const o: DigestWorkerOptions = { url, schema, vendor, log, leaseMs, items, unit, units, window }; // prettier-ignore
  const { heapMiB } = plan;
  const heap =
    heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`, "--max-semi-space-size=8"];
  const fleet = new Fleet(PROGRAM, o, workers, heap);
  let nextKill = tasks / (kills + 1);
  let killing = Promise.resolve();
  world.onRequest = () => {
    if (world.paid.size < nextKill || fleet.kills >= kills) return;
    nextKill += tasks / (kills + 1);
    killing = killing.then(() => fleet.killOne(random));
  };
  try {
    const began = performance.now();
    const response = await submitted(backend);
    const seconds = (performance.now() - began) / 1_000;
    await killing;
    await answered.end();
    const lines = readFileSync(log, "utf8").trim().split("\n");
    const lostLeases = lines.filter((line) => line === "lost").length;
    const at = `FUZZ_SEED=${seed}, ${fleet.kills} kills`;
    expect(response?.status, `${response?.error}, ${at}`).to.equal("COMPLETED");
    if (whole !== undefined) expect(response?.result, at).to.equal(whole);
    expect(world.paid.size, `different calls, ${at}`).to.equal(tasks);
    expect(response?.usage?.[0]?.calls, `calls of the run, ${at}`).to.equal(tasks);
    const paidAgain = [...answered.paidThen].filter(
      ([hash, then]) => (world.paid.get(hash) ?? 0) > then,
    ).length;
    expect(paidAgain, `finished calls that were paid again, ${at}`).to.be.at.most(
      lostLeases * window,
    );
    const repeated = sumOf(world.paid) - tasks;
    expect(repeated, at).to.be.at.most((fleet.kills + lostLeases) * (window + unit * units));
    const mostMiB = Math.max(0, ...lines.map((line) => Number(line.split(" ")[1] ?? 0)));
    console.log(
      `      ${at}: ${tasks} tasks in ${seconds.toFixed(1)} s, ${repeated} calls in flight made again, ${paidAgain} finished ones, ${lostLeases} leases lost, largest process ${mostMiB} MiB`,
    );
    return { seconds, repeated, paidAgain, lostLeases, mostMiB };
  } finally {
    await answered.end();
    await fleet.end();
    await backend.close();
    await world.close();
  }
}

async function submitted(backend: NetworkBackend): ReturnType<Transport["response"]> {
  const transport = Transport.of(DIGEST, backend);
  const request = { v: 1, requestId: "all", from: "shop", to: DIGEST, type: "RUN", task: "run" } as const; // prettier-ignore
  await insisted(() => transport.send(request));
  return insisted(() => transport.response("all", { timeoutMs: LIMIT_MS }));
}
