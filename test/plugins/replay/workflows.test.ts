import type { ChatRequest, EnsembleOptions } from "agentensemble";
import {
  Agent,
  Graph,
  GuardrailResult,
  Loop,
  ModelCallError,
  Phase,
  PhaseReview,
  Task,
  tool,
} from "agentensemble";
import { retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { join } from "node:path";
import { z } from "zod";
import { deadModel, recordAndReplayTwice, withoutDurations } from "./record-and-replay.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { pause } from "../../support/time.js";

const textOf = (request: ChatRequest): string => JSON.stringify(request.messages);
const roleOf = (request: ChatRequest): string =>
  /You are ([\w ]+)/.exec(textOf(request))?.[1] ?? "";
const worker = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Do it", ...more });

/** The parts of the same ensemble in each play. A replay uses a model that must not be called. */
interface Team {
  readonly script: ConstructorParameters<typeof ScriptedModel>[0];
  readonly options: () => Omit<EnsembleOptions, "model">;
  readonly error?: string;
}

const add = () =>
  tool({
    name: "add",
    description: "Adds numbers, after a while",
    input: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => {
      await pause(20 - a);
      if (a === 13) throw new RangeError("thirteen");
      return { sum: a + b };
    },
  });

const assign = (agentRole: string, taskDescription: string, taskNumber?: number) => ({
  name: "delegateTask",
  arguments: { agentRole, taskDescription, taskNumber },
});
const managerTurns = [
  { toolCalls: [assign("A", "One", 1), assign("B", "Two", 2)] },
  "All is done.",
];

const TEAMS: Readonly<Record<string, Team>> = {
  sequential: {
    script: ["first", "second"],
    options: () => ({ tasks: [Task.of("One"), Task.of("Two")] }),
  },
  "parallel tasks that end in the reverse order": {
    script: async (request) => {
      const role = roleOf(request);
      await pause(role === "Slow" ? 60 : role === "Middle" ? 30 : 5);
      return `${role} is done`;
    },
    options: () => {
      const tasks = ["Slow", "Middle", "Fast"].map(
        (role) => new Task({ name: role, description: "Same words", agent: worker(role) }),
      );
      const followers = tasks.map(
        (task, i) =>
          new Task({
            description: `Follow ${i}`,
            context: [task],
            agent: worker(`Follower ${task.name ?? ""}`),
          }),
      );
      return { tasks: [...tasks, ...followers], workflow: "PARALLEL" };
    },
  },
  "parallel, with equal requests": {
    script: async (_request, index) => {
      await pause(index === 0 ? 40 : 5);
      return `answer ${index}`;
    },
    options: () => {
      const twin = worker("Twin");
      return {
        tasks: [1, 2, 3].map(
          (n) => new Task({ name: `t${n}`, description: "The very same", agent: twin }),
        ),
        workflow: "PARALLEL",
      };
    },
  },
  "parallel, with a failure": {
    script: async (request) => {
      if (!textOf(request).includes("Bad")) return "fine";
      await pause(10);
      throw new ModelCallError("status 400: no", {
        provider: "scripted",
        modelId: "scripted",
        code: "AE_MODEL_BAD_REQUEST",
        status: 400,
      });
    },
    options: () => ({
      tasks: [Task.of("Bad"), Task.of("Good")],
      workflow: "PARALLEL",
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
    }),
    error: "AE_PARALLEL_EXECUTION",
  },
  "concurrent tools, one of which throws": {
    script: [
      { toolCalls: [1, 5, 13].map((a) => ({ name: "add", arguments: { a, b: 1 } })) },
      {
        toolCalls: [
          { name: "add", arguments: "{broken" },
          { name: "nothing", arguments: {} },
        ],
      },
      "done",
    ],
    options: () => ({
      tasks: [new Task({ description: "Add", agent: worker("Clerk", { tools: [add()] }) })],
    }),
  },
  "structured output with a correction": {
    script: ["not JSON", '{"name": "swift", "eggs": 2}'],
    options: () => ({
      tasks: [
        new Task({
          description: "A bird",
          outputType: z.object({ name: z.string(), eggs: z.number() }),
        }),
      ],
    }),
  },
  "a guardrail that requests another attempt": {
    script: ["too long a text", "short"],
    options: () => ({
      tasks: [
        new Task({
          description: "Be short",
          guardrailRetries: 2,
          outputGuardrails: [
            ({ raw }) => (raw.length < 8 ? true : GuardrailResult.failure("too long")),
          ],
        }),
      ],
    }),
  },
  "retried calls": {
    script: (_request, index) =>
      index < 2
        ? new ModelCallError("busy", {
            provider: "scripted",
            modelId: "scripted",
            code: "AE_MODEL_RATE_LIMITED",
            status: 429,
            retryable: true,
            retryAfterMs: 40,
          })
        : "at last",
    options: () => ({ tasks: [Task.of("Try")], plugins: [retry({ maxAttempts: 3 })] }),
  },
  "a failed run": {
    script: [
      "one",
      new ModelCallError("no such key", {
        provider: "scripted",
        modelId: "scripted",
        code: "AE_MODEL_AUTH",
        status: 401,
      }),
    ],
    options: () => ({ tasks: [Task.of("One"), Task.of("Two")] }),
    error: "AE_TASK_EXECUTION",
  },
  hierarchical: {
    script: async (request) => {
      const role = roleOf(request);
      if (role === "A" || role === "B") {
        await pause(role === "A" ? 30 : 5);
        return `${role}'s work`;
      }
      return managerTurns[request.messages.filter((m) => m.role === "assistant").length] ?? "?";
    },
    options: () => ({
      workflow: "HIERARCHICAL",
      agents: [worker("A"), worker("B")],
      tasks: [Task.of("One"), Task.of("Two")],
    }),
  },
  "peers that delegate": {
    script: (request) => {
      if (roleOf(request) === "Helper") return "helped";
      const turn = request.messages.filter((m) => m.role === "assistant").length;
      return turn === 0
        ? {
            toolCalls: [
              { name: "delegate", arguments: { agentRole: "Helper", taskDescription: "Help" } },
            ],
          }
        : "thanks";
    },
    options: () => ({
      agents: [worker("Helper")],
      tasks: [
        new Task({ description: "Lead", agent: worker("Leader", { allowDelegation: true }) }),
      ],
    }),
  },
  phases: {
    script: (request) =>
      roleOf(request) === "Judge"
        ? textOf(request).includes("better")
          ? "APPROVE"
          : "RETRY: better"
        : textOf(request).includes("better")
          ? "better"
          : "bad",
    options: () => {
      const review = new PhaseReview({
        task: new Task({ description: "Judge it", agent: worker("Judge") }),
      });
      return {
        phases: [
          new Phase({
            name: "work",
            tasks: [new Task({ name: "w", description: "Work" })],
            review,
          }),
        ],
      };
    },
  },
  loop: {
    script: (_request, index) => `iteration ${index}`,
    options: () => ({
      loops: [new Loop({ name: "again", tasks: [Task.of("Improve")], maxIterations: 3 })],
    }),
  },
  graph: {
    script: (_request, index) => (index === 0 ? "left" : "the end"),
    options: () => {
      const [start, left] = [Task.of("Where to?"), Task.of("Left")];
      const graph = new Graph({
        name: "ways",
        states: { start, left },
        start: "start",
        edges: [
          { from: "start", to: "left", when: ({ lastOutput }) => lastOutput.raw === "left" },
          { from: "left", to: Graph.END },
        ],
      });
      return { graph };
    },
  },
};

describe("record and replay", () => {
  for (const [name, team] of Object.entries(TEAMS)) {
    it(`repeats ${name}: output and trace, twice, without the model`, async () => {
      const folder = temporaryFolder();
      const dead: { readonly calls: number }[] = [];
      const make = (isReplay: boolean): EnsembleOptions => {
        const live = new ScriptedModel(team.script);
        if (!isReplay) return { ...team.options(), model: live };
        const model = deadModel(live);
        dead.push(model);
        return { ...team.options(), model };
      };
      try {
        const { recorded, replays } = await recordAndReplayTwice(join(folder, "run.jsonl"), make);
        expect(recorded.error?.code).to.equal(team.error);
        for (const { output, error } of replays) {
          expect(error?.code).to.equal(recorded.error?.code);
          expect(error?.message).to.equal(recorded.error?.message);
          expect(output.raw).to.equal(recorded.output.raw);
          expect(output.exitReason).to.equal(recorded.output.exitReason);
          expect(output.trace.startedAt).to.deep.equal(recorded.output.trace.startedAt);
          expect(withoutDurations(output.trace.toJson())).to.deep.equal(
            withoutDurations(recorded.output.trace.toJson()),
          );
        }
        expect(replays[0].output.trace.toJson()).to.equal(replays[1].output.trace.toJson());
        expect(dead.map(({ calls }) => calls)).to.deep.equal([0, 0]);
      } finally {
      }
    });
  }
});
