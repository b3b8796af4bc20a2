import type { ChatRequest, EnsembleOptions } from "agentensemble";
import {
  Agent,
  Graph,
  GuardrailResult,
  Loop,
  MemoryScope,
  MemoryStore,
  Phase,
  ReviewDecision,
  ReflectionStore,
  Task,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { join } from "node:path";
import { pause } from "./time.js";

/** The seeds of a test: `FUZZ_RUNS` of them from `FUZZ_SEED` on, else `fixed` from 1 on. */
export function fuzzRange(fixed: number): { readonly first: number; readonly runs: number } {
  const { FUZZ_SEED: seed = "1", FUZZ_RUNS: runs = String(fixed) } = process.env;
  return { first: Number(seed), runs: Number(runs) };
}

/** Numbers from 0 to below 1, determined by a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The difference between two executions of one team: all durations. */
export interface Chance {
  /** Waits for a while, or not at all. */
  wait(): Promise<void> | undefined;
}

/** How long work takes in one execution; another seed is another machine. */
export function chanceOf(seed: number, longestMs: number): Chance {
  const random = randomOf(seed);
  return {
    wait: () => {
      const roll = random();
      if (roll < 0.25) return undefined;
      if (roll < 0.5) return new Promise((resolve) => void setImmediate(resolve));
      return pause(Math.floor(random() * longestMs));
    },
  };
}

const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Do it", ...more });
const textOf = ({ messages }: ChatRequest): string => JSON.stringify(messages);

/** Answers depend on the request only: the same question has the same answer in any order. */
function modelOf(chance: Chance): ScriptedModel {
  return new ScriptedModel(async (request) => {
    await chance.wait();
    const text = textOf(request);
    const asked = request.messages.at(-1);
    const usage = { inputTokens: text.length, outputTokens: 3 };
    const turns = request.messages.filter(({ role }) => role === "assistant").length;
    const offered = (request.tools ?? []).map(({ name }) => name);
    if (turns === 0 && offered.includes("delegateTask"))
      return { toolCalls: ["A", "B", "C"].map((role, i) => ({ name: "delegateTask", arguments: { agentRole: role, taskDescription: `Do part ${i + 1}`, taskNumber: i + 1 } })), usage }; // prettier-ignore
    if (turns === 0 && offered.includes("delegate"))
      return { toolCalls: ["A", "B"].map((role) => ({ name: "delegate", arguments: { agentRole: role, taskDescription: `Help with ${role}` } })), usage }; // prettier-ignore
    if (turns === 0 && offered.includes("look"))
      return { toolCalls: [1, 2].map((n) => ({ name: "look", arguments: { n } })), usage };
    let sum = 0;
    for (const c of text) sum = (sum * 31 + c.charCodeAt(0)) % 100_003;
    return { text: `said ${sum} to ${asked?.role ?? ""}`, usage };
  });
}

interface Parts {
  readonly chance: Chance;
  readonly folder: string;
  readonly random: () => number;
}

function look(chance: Chance) {
  return tool({
    name: "look",
    description: "Looks something up",
    input: { type: "object" },
    execute: async (input: Readonly<Record<string, unknown>>) => {
      await chance.wait();
      return `found ${JSON.stringify(input)}`;
    },
  });
}

/** Tasks with everything that may wait: guardrails, handlers, scopes, tools, reviews. */
function tasksOf({ chance, random }: Parts, count: number, handlers = true): Task[] {
  const guard = async (): Promise<true> => (await chance.wait(), true);
  const once = (): (() => Promise<GuardrailResult | true>) => {
    let refused = random() < 0.7;
    return async () => {
      await chance.wait();
      if (refused) return true;
      refused = true;
      return GuardrailResult.failure("once more");
    };
  };
  return Array.from({ length: count }, (_, n) => {
    const common = {
      name: `t${n + 1}`,
      description: `Do part ${n + 1}`,
      memory: random() < 0.5 ? [MemoryScope.of("shared")] : [],
      outputGuardrails: random() < 0.5 ? [once()] : [guard],
      guardrailRetries: 1,
      inputGuardrails: random() < 0.5 ? [guard] : [],
    };
    if (random() < 0.25 && handlers)
      return new Task({
        ...common,
        handler: async ({ description, memory }) => {
          await chance.wait();
          const known = await memory.retrieve("shared", "x", 3);
          return `${description}: ${known.map(({ content }) => content).join()}`;
        },
      });
    return new Task({
      ...common,
      reflect: random() < 0.3,
      agent: agent(["A", "B", "C", "D"][n % 4] ?? "A", random() < 0.4 ? { tools: [look(chance)] } : {}), // prettier-ignore
    });
  });
}

type Shape = (parts: Parts) => Omit<EnsembleOptions, "model">;

/** The shapes of teams. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  sequential: (parts) => ({ tasks: tasksOf(parts, 4) }),
  parallel: (parts) => ({ tasks: tasksOf(parts, 5), workflow: "PARALLEL" }),
  hierarchical: (parts) => ({ tasks: tasksOf(parts, 3, false), workflow: "HIERARCHICAL" }),
  peers: (parts) => ({
    tasks: [
      ...["Lead", "Chief"].map((role) => new Task({ name: role, description: `Lead as ${role}`, agent: agent(role, { allowDelegation: true }) })), // prettier-ignore
      ...tasksOf(parts, 1),
    ],
    agents: [agent("A"), agent("B")],
    workflow: "PARALLEL",
  }),
  phases: (parts) => {
    const [a, b, c, d] = tasksOf(parts, 4);
    const first = new Phase({ name: "first", tasks: [a, b] as Task[], workflow: "PARALLEL" });
    const second = new Phase({ name: "second", tasks: [c] as Task[] });
    return { phases: [first, second, new Phase({ name: "third", tasks: [d] as Task[], after: [first, second] })] }; // prettier-ignore
  },
  loop: (parts) => {
    const tasks = tasksOf(parts, 2);
    return { loops: [new Loop({ name: "twice", tasks, maxIterations: 2 })] };
  },
  graph: (parts) => {
    const [a, b] = tasksOf(parts, 2);
    return {
      graph: new Graph({
        name: "two",
        start: "one",
        states: { one: a as Task, two: b as Task },
        edges: [
          { from: "one", to: "two" },
          { from: "two", to: Graph.END },
        ],
      }),
    };
  },
};

/** One execution of the team of a seed. `asks` counts the questions to reviewers. */
export function teamOf(
  seed: number,
  shape: keyof typeof SHAPES,
  chance: Chance,
  folder: string,
): { readonly options: EnsembleOptions; readonly asked: () => number } {
  const random = randomOf(seed);
  let asked = 0;
  const make = SHAPES[shape] as Shape; // a name of it
  const inMemory = random() < 0.5;
  const options: EnsembleOptions = {
    model: modelOf(chance),
    memory: { shortTerm: true },
    memoryStore: inMemory ? MemoryStore.inMemory() : MemoryStore.file(join(folder, `memory-${seed}`)), // prettier-ignore
    reflectionStore: ReflectionStore.inMemory(),
    ...(random() < 0.5 && { reviewPolicy: "AFTER_EVERY_TASK" as const }),
    reviewHandler: async ({ taskOutput }) => {
      asked++;
      await chance.wait();
      return taskOutput.length % 3 === 0
        ? ReviewDecision.edit(`${taskOutput}!`)
        : ReviewDecision.continue();
    },
    ...make({ chance, folder, random }),
  };
  return { options, asked: () => asked };
}
