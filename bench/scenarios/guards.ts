import { Agent, Ensemble, Task, tool, type ChatModel, type Plugin } from "agentensemble";
import {
  answerLength,
  canary,
  jsonOnly,
  language,
  links,
  personalData,
  promptInjection,
  quotations,
  secrets,
  topics,
} from "agentensemble/guards";
import type { Scenario, Work } from "../harness/scenario.js";
import { collectGarbage, cpuOf } from "../harness/measure.js";

const KILOBYTES = 16;
const WARM_UP = 100;
/** Number of runs of a side before the other side. */
const RUNS = 8;
const TURNS = 6;
/** Prose with words and numbers that guards must examine. */
const TEXT = JSON.stringify({
  text: "On 12 March 2026 the system sent a message to the new office: order 4711-0815 costs 1,250.00 EUR, see https://docs.example.com/a. The token budget is 4096, and the instructions say to call +49 30 901820 before you answer. "
    .concat(
      "The board met in the large room and spoke about the plans for the garden, the paths between the houses and the colour of the new doors. Most people liked the idea of a small pond, but some were afraid of the costs, and the question was left open until the spring. ".repeat(
        3,
      ),
    )
    .repeat(20)
    .slice(0, KILOBYTES * 1024 - 12),
});

/** The guards that call no service. */
const GUARDS: readonly (readonly [name: string, guard: Plugin])[] = [
  ["personalData", personalData({ restore: false, phoneRegions: ["DE"] })],
  ["secrets", secrets()],
  ["promptInjection", promptInjection()],
  ["links", links({ hosts: ["*.example.com"] })],
  ["topics", topics({ deny: { medicine: ["dosage", "antibiotic*"] } })],
  ["language", language({ allow: ["en"] })],
  ["answerLength", answerLength({ maxWords: 10_000 })],
  ["jsonOnly", jsonOnly()],
  ["quotations", quotations({ sources: [TEXT] })],
  ["canary", canary()],
];

const give = tool({ name: "give", description: "Gives a text", execute: () => TEXT });
const response = { message: { role: "assistant", content: TEXT }, finishReason: "stop" } as const;
/** Streams the text in pieces of four characters, about one token each. */
const speaking: ChatModel = {
  ...{ provider: "bench", modelId: "speaking" },
  chat: () => Promise.resolve(response),
  async *stream() {
    for (let at = 0; at < TEXT.length; at += 4)
      yield { type: "text", text: TEXT.slice(at, at + 4) };
    yield { type: "finish", response };
  },
};
const writer = new Agent({ role: "Writer", goal: "Write" });

/** Returns the work of one run: a tool's result becomes the output of a task, or a stream does. */
function runWith(plugins: readonly Plugin[], streams: boolean): Work {
  const team = streams
    ? new Ensemble({
        ...{ plugins, model: speaking, onToken: () => undefined },
        tasks: [new Task({ description: "Write", agent: writer })],
      })
    : new Ensemble({ plugins, tasks: [new Task({ description: "Give", handler: give })] });
  return () => team.run();
}

/**
 * Returns a scenario of the cost that each guard adds to a run, per kilobyte of its text. Only the
 * side of the framework has guards.
 */
function scenarioOf(id: string, title: string, streams: boolean): Scenario {
  return {
    id,
    lines: GUARDS.map(([name]) => ({ title: `${title} ${name}`, unit: "us CPU/KB", goal: 50 })),
    rounds: 7,
    async prepare(side) {
      if (side !== "framework") return () => Promise.resolve(GUARDS.map(() => 0));
      const bare = runWith([], streams);
      const guarded = GUARDS.map(([, guard]) => runWith([guard], streams));
      for (const work of [bare, ...guarded]) await cpuOf(WARM_UP, work);
      collectGarbage();
      return async () => {
        const added: number[] = [];
        for (const work of guarded) added.push((await addedCpu(bare, work)) / KILOBYTES);
        return added;
      };
    },
  };
}

/**
 * Returns the additional CPU microseconds of a guarded run. Bare and guarded runs alternate: a
 * disturbance of the machine affects both.
 */
async function addedCpu(bare: Work, guarded: Work): Promise<number> {
  let added = 0;
  for (let turn = 0; turn < TURNS; turn++)
    added += (await cpuOf(RUNS, guarded)) - (await cpuOf(RUNS, bare));
  return Math.max(0, added / (TURNS * RUNS));
}

export const guardsScenario = scenarioOf("guards", "guard", false);
/** The scenario with the text in pieces of one token. */
export const guardStreamsScenario = scenarioOf("guard-streams", "stream, guard", true);
