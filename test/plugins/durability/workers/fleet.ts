// Workers on PostgreSQL that are killed continually, and the costs of their runs.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { expect } from "chai";
import type { WorkResponse } from "../../../../src/contracts/network.js";
import { NetworkError } from "../../../../src/contracts/network-errors.js";
import { Transport } from "../../../../src/network.js";
import { postgres } from "../../../../src/network-postgres.js";
import { randomOf } from "../../../support/fuzzed-teams.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { pause, until } from "../../../support/time.js";
import { answeredIn, CountingWorld, sumOf, type Counts } from "../kills/counting-world.js";
import { CALLS, CALLS_AT_ONCE, press, PRESS } from "./press.js";
import type { PressWorkerOptions } from "./press-worker.js";

/** The events during the runs. */
export interface FleetPlan {
  readonly url: string;
  readonly schema: string;
  readonly runs: number;
  /** The duration in which workers are killed, one every 300 to 900 ms. */
  readonly killsForMs: number;
  /** Stops one of the workers for longer than its lease; it then continues. */
  readonly stopsOne?: boolean;
  /** Of each model call; without it the duration varies. */
  readonly latencyMs?: number;
  /** Restarts the server; called at equal parts of that time. */
  readonly restarts?: readonly (() => Promise<void>)[];
}

const WORKERS = 3;
const SLOTS = 4;
const LEASE_MS = 3_000;
const PROGRAM = fileURLToPath(new URL("./press-worker.js", import.meta.url));
const LIMIT_MS = 10 * 60_000;

const runIdOf = (n: number): string => `order-${n}`;

/** The results of undisturbed runs, and their costs per call. */
async function undisturbed(runs: number): Promise<{ results: readonly string[]; paid: Counts }> {
  const world = await CountingWorld.start();
  await using ensemble = press(world.outside("").vendor);
  try {
    const results: string[] = [];
    for (let n = 0; n < runs; n++) results.push((await ensemble.run({ order: n })).raw);
    return { results, paid: new Map(world.paid) };
  } finally {
    await world.close();
  }
}

/** Repeats a failed operation while the server is unavailable. */
export async function insisted<T>(ask: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!NetworkError.isInstance(error)) throw error;
      await pause(100);
    }
}

/** Calls with an answer in the journal, and their number of payments until then. */
export class AnsweredCalls {
  readonly paidThen = new Map<string, number>();
  readonly #plan: Pick<FleetPlan, "url" | "schema">;
  readonly #paid: Counts;
  #after = "0";
  #isOver = false;
  readonly #watching: Promise<void>;

  constructor(plan: Pick<FleetPlan, "url" | "schema">, paid: Counts) {
    this.#plan = plan;
    this.#paid = paid;
    this.#watching = this.#watch();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      await this.#look().catch(() => undefined); // the server is away
      await pause(20);
    }
  }

  async #look(): Promise<void> {
    const client = new Client({ connectionString: this.#plan.url });
    client.on("error", () => undefined);
    await client.connect();
    try {
      while (!this.#isOver) {
        const { rows } = await client.query<{ n: string; value: string }>(
          `select n::text, value from "${this.#plan.schema}".journal where kind = 'call' and n > $1 order by n`,
          [this.#after],
        );
        for (const { n, value } of rows) {
          for (const hash of answeredIn(value))
            if (!this.paidThen.has(hash)) this.paidThen.set(hash, this.#paid.get(hash) ?? 0);
          this.#after = n;
        }
        await pause(20);
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** The workers. One at a time is killed and replaced. */
export class Fleet {
  readonly #program: string;
  readonly #nodeOptions: readonly string[];
  readonly #options: object;
  readonly #workers: ChildProcess[];
  kills = 0;

  /** `program`: the file of each worker, with the options as JSON. */
  constructor(
    program: string,
    options: object,
    workers: number,
    nodeOptions: readonly string[] = [],
  ) {
    this.#nodeOptions = nodeOptions;
    this.#program = program;
    this.#options = options;
    this.#workers = Array.from({ length: workers }, () => this.#start());
  }

  #start(): ChildProcess {
    const args = [this.#program, JSON.stringify(this.#options)];
    return spawn(process.execPath, [...this.#nodeOptions, ...args], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }

  async killOne(random: () => number): Promise<void> {
    const index = Math.floor(random() * this.#workers.length);
    const worker = this.#workers[index];
    if (worker !== undefined) await killed(worker);
    this.#workers[index] = this.#start();
    this.kills++;
  }

  /** Stops a live worker, and lets it continue. */
  async stopOne(random: () => number, forMs: number): Promise<void> {
    const worker = this.#workers[Math.floor(random() * this.#workers.length)];
    worker?.kill("SIGSTOP");
    await pause(forMs);
    worker?.kill("SIGCONT");
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map(killed));
  }
}

async function killed(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const closed = once(worker, "close");
  worker.kill("SIGKILL");
  await closed;
}

async function killAllTheTime(fleet: Fleet, plan: FleetPlan, random: () => number): Promise<void> {
  const { killsForMs, restarts = [] } = plan;
  const restarting = restarts.map(async (restart, n) => {
    await pause(((n + 0.5) * killsForMs) / restarts.length);
    await restart();
  });
  for (let ms = 0; ms < killsForMs;) {
    const wait = 300 + 600 * random();
    await pause(wait);
    await fleet.killOne(random);
    ms += wait;
  }
  await Promise.all(restarting);
}

/**
 * Executes a plan, and expects no lost run and no repeated finished call. Returns the number of
 * lost leases.
 */
export async function expectFleetKeepsAll(plan: FleetPlan): Promise<{ readonly lost: number }> {
  const seed = Number(process.env["FUZZ_SEED"] ?? randomInt(2 ** 31));
  const random = randomOf(seed);
  const whole = await undisturbed(plan.runs);
  const world = await CountingWorld.start(plan.latencyMs);
  const log = join(temporaryFolder(), "lost");
  writeFileSync(log, "");
  const backend = postgres({ url: plan.url, schema: plan.schema });
  const transport = Transport.of(PRESS, backend);
  const answered = new AnsweredCalls(plan, world.paid);
  const { vendor } = world.outside("");
  const { url, schema } = plan;
  const o: PressWorkerOptions = { url, schema, vendor, log, leaseMs: LEASE_MS, slots: SLOTS };
  const fleet = new Fleet(PROGRAM, o, WORKERS);
  try {
    for (let n = 0; n < plan.runs; n++)
      await insisted(() =>
        transport.send({
          v: 1,
          requestId: runIdOf(n),
          from: "shop",
          to: PRESS,
          type: "RUN",
          task: "run",
          inputs: { order: n },
        }),
      );
    await killAllTheTime(fleet, plan, random);
    if (plan.stopsOne === true) {
      const eachHasOne = async (): Promise<boolean> =>
        (await backend.queue.depth(PRESS)).leased > (WORKERS - 1) * SLOTS;
      await until(eachHasOne, undefined, 60_000);
      await fleet.stopOne(random, 2 * LEASE_MS);
    }
    const responses: (WorkResponse | undefined)[] = [];
    for (let n = 0; n < plan.runs; n++)
      responses.push(await insisted(() => transport.response(runIdOf(n), { timeoutMs: LIMIT_MS })));
    await until(
      async () => (await insisted(() => backend.queue.depth(PRESS))).leased === 0,
      undefined,
      60_000,
    );
    await answered.end();
    const at = `FUZZ_SEED=${seed}, ${fleet.kills} kills`;
    expect(
      responses.map((one) => one?.result),
      at,
    ).to.deep.equal(whole.results);
    expect([...world.paid.keys()].sort(), at).to.deep.equal([...whole.paid.keys()].sort());
    const lost = readFileSync(log, "utf8").split("\n").length - 1;
    const paidAgain = [...answered.paidThen].filter(
      ([hash, then]) => (world.paid.get(hash) ?? 0) > then,
    );
    // Only a process that stalled for longer than its lease may repeat calls of another process.
    expect(paidAgain.length, `finished calls that were paid again, ${at}`).to.be.at.most(
      lost * CALLS_AT_ONCE,
    );
    const repeated = sumOf(world.paid) - plan.runs * CALLS;
    console.log(
      `      ${at}: ${plan.runs} runs, ${repeated} of ${plan.runs * CALLS} calls in flight made again, ${paidAgain.length} finished ones, ${lost} leases lost`,
    );
    expect(repeated, at).to.be.at.most((fleet.kills + lost) * SLOTS * CALLS_AT_ONCE);
    return { lost };
  } finally {
    await answered.end();
    await fleet.end();
    await backend.close();
    await world.close();
  }
}

/**
 * Kills the worker of a run while another one is idle. Returns the milliseconds until the next call
 * of the other worker, and the lease.
 */
export async function takeOver(
  place: Pick<FleetPlan, "url" | "schema">,
): Promise<{ readonly tookMs: number; readonly leaseMs: number }> {
  const world = await CountingWorld.start(2 * LEASE_MS);
  const log = join(temporaryFolder(), "lost");
  const backend = postgres(place);
  const { vendor } = world.outside("");
  const o: PressWorkerOptions = { ...place, vendor, log, leaseMs: LEASE_MS, slots: SLOTS };
  const first = new Fleet(PROGRAM, o, 1);
  const fleets = [first];
  const instances = async (): Promise<number> => (await backend.catalogue.entries()).length;
  try {
    const request = { v: 1, requestId: runIdOf(0), from: "shop", to: PRESS, type: "RUN" } as const;
    await Transport.of(PRESS, backend).send({ ...request, task: "run", inputs: { order: 0 } });
    await until(() => sumOf(world.paid) === 1, undefined, 60_000);
    fleets.push(new Fleet(PROGRAM, o, 1));
    await until(async () => (await instances()) === 2, undefined, 60_000);
    const from = performance.now();
    await first.end();
    await until(() => sumOf(world.paid) === 2, undefined, 60_000);
    return { tookMs: performance.now() - from, leaseMs: LEASE_MS };
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.end()));
    await backend.close();
    await world.close();
  }
}
