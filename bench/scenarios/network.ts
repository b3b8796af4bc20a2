import type { Line, Scenario } from "../harness/scenario.js";
import { a2aServiceCpu, bareHttpCpu } from "../work/a2a-calls.js";
import { barePostgresFigures, postgresFigures } from "../work/postgres-requests.js";
import { bareBullmqFigures, redisFigures } from "../work/redis-requests.js";
import { costsInFile, costsInMemory } from "../work/requests.js";

const LINES: readonly Line[] = [
  { title: "request accepted, in memory", unit: "us CPU", goal: 15 },
  { title: "request worked off, in memory", unit: "us CPU", goal: 60 },
  { title: "request accepted, in a folder", unit: "us CPU", goal: 60 },
  { title: "request worked off, in a folder", unit: "us CPU", goal: 300 },
];

/** The cost of the backends of services. No task is executed. */
export const networkScenario: Scenario = {
  id: "network",
  lines: LINES,
  rounds: 5,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(LINES.map(() => Number.NaN));
    await costsInMemory();
    await costsInFile();
    return async () => [...(await costsInMemory()), ...(await costsInFile())];
  },
};

/**
 * Number of rounds until V8 has compiled both sides. A call costs twice as much in the first two
 * rounds.
 */
const A2A_WARM_UPS = 4;

/**
 * A blocking call over A2A to a service in the same process. The side `promises` is a server of
 * node:http that answers immediately.
 */
export const a2aScenario: Scenario = {
  id: "network-a2a",
  lines: [{ title: "blocking call over A2A, both sides", unit: "us CPU" }],
  rounds: 5,
  async prepare(side) {
    const round = side === "framework" ? a2aServiceCpu : bareHttpCpu;
    if (side === "hooks") return () => Promise.resolve([Number.NaN]);
    for (let warm = 0; warm < A2A_WARM_UPS; warm++) await round();
    return async () => [await round()];
  },
};

/**
 * The adapter of BullMQ. The side `promises` executes the same jobs with only the client of BullMQ.
 */
export const redisScenario: Scenario = {
  id: "network-redis",
  lines: [
    { title: "request accepted, in Redis", unit: "us CPU" },
    { title: "request worked off, in Redis", unit: "us CPU" },
    { title: "requests accepted, in Redis", unit: "1/s", better: "more" },
    { title: "requests worked off, in Redis", unit: "1/s", better: "more" },
  ],
  rounds: 5,
  async prepare(side) {
    const round = side === "framework" ? redisFigures : bareBullmqFigures;
    if (side === "hooks" || (await round()) === undefined)
      return () => Promise.resolve(Array<number>(4).fill(Number.NaN));
    return async () => (await round()) ?? [];
  },
};

/**
 * The queue in PostgreSQL. The side `promises` executes the same statements with only the client
 * `pg`.
 */
export const postgresScenario: Scenario = {
  id: "network-postgres",
  lines: [
    { title: "request accepted, in PostgreSQL", unit: "us CPU" },
    { title: "request worked off, in PostgreSQL", unit: "us CPU" },
    { title: "requests accepted, in PostgreSQL", unit: "1/s", better: "more" },
    { title: "requests worked off, in PostgreSQL", unit: "1/s", better: "more" },
  ],
  rounds: 5,
  async prepare(side) {
    const round = side === "framework" ? postgresFigures : barePostgresFigures;
    if (side === "hooks" || (await round()) === undefined)
      return () => Promise.resolve(Array<number>(4).fill(Number.NaN));
    return async () => (await round()) ?? [];
  },
};
