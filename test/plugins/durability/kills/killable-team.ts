// Teams whose processes are killed: thirty tasks in a diamond with loops, a graph, and a map-reduce.
import type { EnsembleOptions, EnsembleOutput, Plugin, Tool } from "agentensemble";
import {
  Agent,
  Ensemble,
  GuardrailResult,
  Loop,
  MapReduceEnsemble,
  MemoryScope,
  MemoryStore,
  Review,
  Task,
  tool,
} from "agentensemble";
import { once } from "agentensemble/durability";
import { openai } from "agentensemble/providers/openai";
import { budget } from "agentensemble/resilience";
import { roundGraph } from "../round-graph.js";

/** The addresses of the resources outside of the process. */
export interface Outside {
  /** The model's vendor, as base URL. */
  readonly vendor: string;
  /** The service that receives payments, and sends mails. */
  readonly service: string;
  /** The file of the memory. */
  readonly memory: string;
}

/** One of the runs of a process. */
export interface KillableRun {
  readonly runId: string;
  run(plugins: readonly Plugin[], runId: string): Promise<EnsembleOutput>;
}

const post = async (url: string, body: object): Promise<string> => {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  return response.text();
};

/**
 * Tools with effects: the service of the first supports idempotency keys, that of the second does
 * not.
 */
function effects({ service }: Outside): { readonly pay: Tool; readonly mail: Tool } {
  const pay = tool({
    name: "pay",
    description: "Pays",
    effect: "send",
    resume: "again",
    execute: (input, { idempotencyKey: key }) => post(`${service}/pay`, { key, input }),
  });
  const mail = tool({
    name: "mail",
    description: "Sends a mail",
    effect: "send",
    resume: "ask",
    execute: (input, { idempotencyKey: key }) => post(`${service}/mail`, { key, input }),
  });
  return { pay, mail };
}

const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Do it", ...more });

const task = (name: string, more: object = {}): Task =>
  new Task({ name, description: `Do ${name}`, agent: agent(name), ...more });

const numbered = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/**
 * Thirty tasks: reads, judgements with guardrails, a delegation, steps of a handler, mails, memory,
 * a review.
 */
function diamond(outside: Outside): NonNullable<EnsembleOptions["tasks"]> {
  const { pay, mail } = effects(outside);
  const open = task("open");
  const looks = numbered(12, (n) =>
    task(`look-${n}`, {
      agent: agent(`look-${n}`, { tools: n % 3 === 0 ? [pay] : [] }),
      context: [open],
    }),
  );
  const isEven = ({ raw }: { readonly raw: string }): true | GuardrailResult =>
    raw.charCodeAt(raw.length - 1) % 2 === 0 || GuardrailResult.failure("be even");
  const weighs = numbered(6, (n) =>
    task(`weigh-${n}`, {
      context: looks.slice(n * 2, n * 2 + 2),
      ...(n < 3 && { guardrailRetries: 20, outputGuardrails: [isEven] }),
    }),
  );
  const lead = task("lead", {
    agent: agent("lead", { allowDelegation: true }),
    context: weighs.slice(0, 2),
  });
  const code = new Task({
    name: "code",
    description: "Code",
    context: weighs.slice(2, 4),
    handler: async (ctx) => {
      const parts: string[] = [];
      for (const name of ["p", "q"])
        parts.push(
          await once(ctx, name, (key) => post(`${outside.service}/pay`, { key, input: name })),
        );
      return { parts };
    },
  });
  const mails = numbered(3, (n) =>
    task(`mail-${n}`, { agent: agent(`mail-${n}`, { tools: [mail] }), context: [weighs[n + 3]] }),
  );
  const facts = { memory: [MemoryScope.of("facts")] };
  const first = task("remember-0", { context: [lead], ...facts });
  const second = task("remember-1", { context: [first], ...facts });
  const third = task("remember-2", { context: [second], ...facts });
  const fourth = task("remember-3", { context: [third], ...facts });
  const remembered = [first, second, third, fourth];
  const decide = task("decide", {
    context: [fourth, code, ...mails],
    review: Review.of({ prompt: "Is this right?", timeoutMs: 0 }),
  });
  const end = task("end", { context: [decide] });
  return [open, ...looks, ...weighs, lead, code, ...mails, ...remembered, decide, end];
}

function team(outside: Outside, plugins: readonly Plugin[]): Ensemble {
  return new Ensemble({
    name: "team",
    model: openai("loopback", { baseURL: outside.vendor, apiKey: "key" }),
    costConfiguration: { inputTokenRate: 1, outputTokenRate: 2 },
    workflow: "PARALLEL",
    maxConcurrency: 4,
    memoryStore: MemoryStore.file(outside.memory),
    agents: [agent("A"), agent("B")],
    tasks: diamond(outside),
    loops: [new Loop({ name: "twice", tasks: [task("draft"), task("critic")], maxIterations: 2 })],
    plugins: [budget({ maxTokens: 10_000_000, maxOutputTokensPerCall: 100 }), ...plugins],
  });
}

function graph({ vendor }: Outside, plugins: readonly Plugin[]): Ensemble {
  return new Ensemble({
    name: "graph",
    model: openai("loopback", { baseURL: vendor, apiKey: "key" }),
    graph: roundGraph(task, 4),
    plugins: [...plugins],
  });
}

function mapReduce({ vendor }: Outside, plugins: readonly Plugin[]): MapReduceEnsemble<string> {
  return new MapReduceEnsemble({
    name: "digest",
    model: openai("loopback", { baseURL: vendor, apiKey: "key" }),
    items: ["u", "v", "w", "x", "y", "z"],
    chunkSize: 3,
    mapTask: (item) => task(`map-${item}`),
    reduceTask: (tasks) => task("Bring together", { name: undefined, context: tasks }),
    plugins,
  });
}

/** The runs of a process, one after the other. */
export function killableRuns(outside: Outside): readonly KillableRun[] {
  const makes = { team, graph, "map-reduce": mapReduce };
  return Object.entries(makes).map(([runId, make]) => ({
    runId,
    run: async (plugins) => {
      const ensemble = make(outside, plugins);
      try {
        return await ensemble.run({}, { runId, throwOnError: false });
      } finally {
        await ensemble.dispose();
      }
    },
  }));
}
