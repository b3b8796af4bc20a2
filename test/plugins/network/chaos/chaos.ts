// Services on one engine whose processes are killed, and whose engine is restarted, during their
// work.
import { randomInt } from "node:crypto";
import type {
  NetworkBackend,
  QueueDepth,
  RequestQueue,
  WorkRequest,
} from "../../../../src/contracts/network.js";
import { NetworkError } from "../../../../src/contracts/network-errors.js";
import { randomOf } from "../../../support/fuzzed-teams.js";
import { pause, until } from "../../../support/time.js";
import { ChaosLog } from "./chaos-log.js";
import { openChaosBackend, type ChaosPlace } from "./chaos-place.js";
import { CHAOS_STEPS, sumIn, WorkerProcess, type ChaosStep } from "./chaos-process.js";

/** The events during the execution of the requests. */
export interface ChaosPlan {
  readonly place: ChaosPlace;
  readonly requests: number;
  /** Processes that are killed, each after an equal part of the work. */
  readonly kills: number;
  /** Restarts of the engine, each after an equal part of the work. Default 0. */
  readonly restarts?: number;
  /** Kills the engine and starts it again. Resolves when the engine answers. */
  restart?(): Promise<void>;
  /** The shortest lease that the engine keeps well on a busy machine. Default 1,000 ms. */
  readonly leaseMs?: number;
  /** The address of the journal of the runs. Default: no journal. */
  readonly journal?: string;
  /** Default: a random one. It is printed. */
  readonly seed?: number;
}

/** The counted results. */
export interface ChaosReport {
  /** Accepted requests without a result. */
  readonly lost: readonly string[];
  /** Requests of which a store has accepted two results. */
  readonly recordedTwice: readonly string[];
  /** Requests with a result of another one. */
  readonly wrong: readonly string[];
  /** Repeated calls whose result was in the journal. */
  readonly paidAgain: readonly string[];
  /** Executions beyond the first of each request. */
  readonly startedAgain: number;
  /** The maximum number of repeated executions. */
  readonly mayStartAgain: number;
  readonly left: QueueDepth;
  readonly seconds: number;
}

const ENSEMBLE = "adder";
const WORKERS = 4;
const SLOTS = 10;
const LEASE_MS = 1_000;
/** The number of requests that are accepted before the others begin. */
const AHEAD = 200;
const CLIENTS = 20;
/** One of this number of requests is sent twice. */
const TWICE = 20;
const LIMIT_MS = 15 * 60_000;

function requestNumbered(n: number): WorkRequest {
  return {
    v: 1,
    requestId: `order-${n}`,
    from: "shop",
    to: ENSEMBLE,
    type: "TASK",
    task: "add",
    inputs: { a: n, b: 1 },
  };
}

/** Sends a request until the engine has answered. */
async function accept(queue: RequestQueue, n: number): Promise<void> {
  for (;;)
    try {
      await queue.enqueue(ENSEMBLE, requestNumbered(n));
      return;
    } catch (error) {
      if (!NetworkError.isInstance(error)) throw error;
      await pause(50);
    }
}

/** Repeats a request while the engine is unavailable. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!NetworkError.isInstance(error)) throw error;
      await pause(50);
    }
}

/** One after the other, each when a number of executions has begun. */
async function atParts(log: ChaosLog, parts: readonly number[], act: () => Promise<void>) {
  for (const part of parts) {
    await until(
      () => log.started >= part,
      () => `only ${log.started} of ${part}`,
      LIMIT_MS,
    );
    await act();
  }
}

/** Divides work by `count` events, with one event in the middle of each part. */
function partsOf(requests: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => Math.floor(((n + 0.5) * requests) / count));
}

async function send(queue: RequestQueue, log: ChaosLog, plan: ChaosPlan, random: () => number) {
  let next = 0;
  const client = async (): Promise<void> => {
    for (let n = next++; n < plan.requests; n = next++) {
      while (n - log.started > AHEAD) await pause(5);
      const again = random() < 1 / TWICE;
      await Promise.all([accept(queue, n), ...(again ? [accept(queue, n)] : [])]);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

async function untilEmpty(queue: RequestQueue): Promise<QueueDepth> {
  let depth: QueueDepth | undefined;
  await until(
    async () => {
      depth = await answered(() => queue.depth(ENSEMBLE));
      return depth.queued + depth.leased === 0;
    },
    () => `the queue is not worked off: ${JSON.stringify(depth)}`,
    LIMIT_MS,
  );
  return answered(() => queue.depth(ENSEMBLE));
}

type Judgement = Pick<ChaosReport, "lost" | "wrong">;

async function judge({ results }: NetworkBackend, requests: number): Promise<Judgement> {
  const [lost, wrong]: [string[], string[]] = [[], []];
  for (let n = 0; n < requests; n++) {
    const { requestId, inputs } = requestNumbered(n);
    const response = await answered(() => results.retrieve(requestId));
    if (response === undefined) lost.push(requestId);
    else if (response.result !== sumIn(inputs)) wrong.push(requestId);
  }
  return { lost, wrong };
}

/**
 * Executes a plan, and counts lost, twice recorded and repeated requests. Started executions of
 * killed processes may be repeated, also during a restart of the engine.
 */
export async function chaos(plan: ChaosPlan): Promise<ChaosReport> {
  const { place, requests, kills, restarts = 0, leaseMs = LEASE_MS } = plan;
  const seed = plan.seed ?? randomInt(2 ** 31);
  console.log(`      seed ${seed}: ${requests} requests, ${kills} kills, ${restarts} restarts`);
  const random = randomOf(seed);
  const log = new ChaosLog();
  const began = performance.now();
  const start = (): WorkerProcess =>
    new WorkerProcess({
      ...{ place, ensemble: ENSEMBLE, log: log.path, leaseMs, slots: SLOTS },
      journal: plan.journal,
    });
  const workers = Array.from({ length: WORKERS }, start);
  const backend = await openChaosBackend(place);
  try {
    const killing = atParts(log, partsOf(requests, kills), async () => {
      const victim = Math.floor(random() * WORKERS);
      await workers[victim]?.kill();
      workers[victim] = start();
    });
    const restarting = atParts(log, partsOf(requests, restarts), async () => plan.restart?.());
    await Promise.all([send(backend.queue, log, plan, random), killing, restarting]);
    const left = await untilEmpty(backend.queue);
    const { recordedTwice, paidAgain, startedAgain } = log;
    const mayStartAgain = (kills + restarts * WORKERS) * SLOTS;
    const seconds = (performance.now() - began) / 1_000;
    const judgement = await judge(backend, requests);
    return { ...judgement, recordedTwice, paidAgain, startedAgain, mayStartAgain, left, seconds };
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    log.close();
    await backend.close();
  }
}

/** The size of `chaosAtSteps()`. */
export interface StepsPlan {
  /** Default: 50. */
  readonly requests?: number;
  /** Processes that end at each step. Default 1. */
  readonly perStep?: number;
}

/**
 * Ends processes at each step of their first delivery, all on one queue. Another process executes
 * the other requests.
 */
export async function chaosAtSteps(place: ChaosPlace, plan: StepsPlan = {}): Promise<ChaosReport> {
  const { requests = CHAOS_STEPS.length * SLOTS, perStep = 1 } = plan;
  const log = new ChaosLog();
  const began = performance.now();
  const common = { place, ensemble: ENSEMBLE, log: log.path, leaseMs: LEASE_MS, slots: 3 };
  const steps = CHAOS_STEPS.flatMap((step) => new Array<ChaosStep>(perStep).fill(step));
  const backend = await openChaosBackend(place);
  const workers: WorkerProcess[] = [];
  try {
    for (let n = 0; n < requests; n++) await accept(backend.queue, n);
    const killed = steps.map((step) => new WorkerProcess({ ...common, step }));
    workers.push(...killed);
    const signals = await Promise.all(killed.map((worker) => worker.ended()));
    if (signals.some((signal) => signal !== "SIGKILL"))
      throw new Error(`a process ended by itself: ${signals.join()}`);
    workers.push(new WorkerProcess(common));
    const left = await untilEmpty(backend.queue);
    const judgement = await judge(backend, requests);
    return {
      ...judgement,
      recordedTwice: log.recordedTwice,
      paidAgain: log.paidAgain,
      startedAgain: log.startedAgain,
      mayStartAgain: steps.length * common.slots,
      left,
      seconds: (performance.now() - began) / 1_000,
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    log.close();
    await backend.close();
  }
}
