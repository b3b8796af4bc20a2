// Small teams, one for each way in which the package runs tasks.
import type { ChatRequest, EnsembleOptions } from "agentensemble";
import {
  Agent,
  AgentSynthesizer,
  GuardrailResult,
  Loop,
  MapReduceEnsemble,
  MemoryScope,
  MemoryStore,
  ModelCallError,
  Phase,
  PhaseReview,
  RateLimit,
  ReflectionStore,
  Review,
  ReviewDecision,
  Task,
  definePlugin,
  reject,
} from "agentensemble";
import { once } from "agentensemble/durability";
import { budget, fallback, retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { z } from "zod";
import type { Life, Team } from "./crash.js";
import { teamOf } from "./crash.js";
import { roundGraph } from "../round-graph.js";

const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Do it", ...more });

const task = (name: string, more: object = {}): Task =>
  new Task({ name, description: `Do ${name}`, agent: agent(name), ...more });

/** Answers depend on the request only. */
function answers(request: ChatRequest) {
  const text = JSON.stringify(request.messages);
  const turns = request.messages.filter(({ role }) => role === "assistant").length;
  const usage = { inputTokens: text.length, outputTokens: 3 };
  const offered = (request.tools ?? []).map(({ name }) => name);
  const call = (name: string, args: object, id: string) => ({ name, arguments: args, id });
  if (turns === 0 && offered.includes("delegateTask"))
    return { toolCalls: ["A", "B"].map((role, i) => call("delegateTask", { agentRole: role, taskDescription: `Do part ${i + 1}`, taskNumber: i + 1 }, `d${i}`)), usage }; // prettier-ignore
  if (turns === 0 && offered.includes("delegate"))
    return { toolCalls: ["A", "B"].map((role) => call("delegate", { agentRole: role, taskDescription: `Help ${role}` }, `d${role}`)), usage }; // prettier-ignore
  for (const name of ["pay", "mail"])
    if (turns === 0 && offered.includes(name))
      return { toolCalls: [1, 2].map((n) => call(name, { input: `${n}` }, `${name}${n}`)), usage };
  if (text.includes("REFINED_DESCRIPTION"))
    return { text: "REFINED_DESCRIPTION: Do it well\nOBSERVATIONS:\n- It went well", usage };
  if (text.includes("Which day?") && !text.includes("Do two"))
    return { text: '{"day":"2026-05-04"}', usage };
  if (text.includes("must fail")) throw new Error("the worker can't do it");
  let sum = 0;
  for (const c of text) sum = (sum * 31 + c.charCodeAt(0)) % 1_003;
  return { text: `said ${sum}`, usage };
}

const model = (life: Life) => life.model(new ScriptedModel(answers));

const PRICES: Pick<EnsembleOptions, "costConfiguration"> = {
  costConfiguration: { inputTokenRate: 1, outputTokenRate: 2 },
};

/** A reviewer who is asked once, and keeps the answer. */
const person =
  (life: Life, decide: (text: string) => ReviewDecision): EnsembleOptions["reviewHandler"] =>
  async ({ reviewId, taskOutput }) => {
    await life.alive();
    life.world.asked.push(reviewId);
    await life.alive();
    return decide(taskOutput);
  };

/** A manager with many kinds of tasks, which each scenario uses. */
const simple = (more: (life: Life) => EnsembleOptions): Team =>
  teamOf((life) => ({ model: model(life), ...PRICES, ...more(life) }));

const store = (life: Life): MemoryStore =>
  life.world.outside("memory", () => MemoryStore.inMemory());

/** A judge of outputs that calls a model. */
const judge = () =>
  definePlugin({
    name: "judge",
    apply({ hooks }) {
      hooks.afterTask.tap({ name: "judge", lane: "policy" }, async (call) => {
        if (call.outcome !== "ok" && call.outcome !== "answered") return undefined;
        const content = `Is this good? ${call.output.raw}`;
        const { message } = await call.run.chat(
          call,
          { messages: [{ role: "user", content }] },
          { purpose: "judge" },
        );
        return message.content.startsWith("said") ? undefined : reject("not good");
      });
    },
  });

/** A model whose first request of each kind in a process fails with a temporary error. */
function shaky(life: Life, provider: string) {
  const asked = new Set<string>();
  const inner = new ScriptedModel(answers, { provider });
  const counted = life.model(inner);
  return {
    ...counted,
    chat: async (request: ChatRequest) => {
      await life.alive();
      const text = JSON.stringify(request.messages);
      if (!asked.has(text) && asked.add(text))
        throw new ModelCallError("busy", {
          provider,
          modelId: inner.modelId,
          code: "AE_MODEL_RATE_LIMITED",
          status: 429,
          retryable: true,
        });
      return counted.chat(request);
    },
  };
}

export const SCENARIOS: Readonly<Record<string, Team>> = {
  "tasks in sequence with tools": simple((life) => ({
    tasks: [
      task("one", { agent: agent("one", { tools: [life.pay()] }) }),
      task("two"),
      task("three"),
    ],
  })),
  "concurrent tasks": simple((life) => ({
    workflow: "PARALLEL",
    tasks: [task("a", { agent: agent("a", { tools: [life.pay()] }) }), task("b"), task("c")],
  })),
  "a diamond": simple(() => {
    const top = task("top");
    const [left, right] = ["left", "right"].map((name) => task(name, { context: [top] }));
    return { tasks: [top, left, right, task("end", { context: [left, right] })] as Task[] };
  }),
  "phases that a review repeats": simple(() => {
    const first = new Phase({
      name: "first",
      tasks: [task("p1"), task("p2")],
      workflow: "PARALLEL",
    });
    const check = new Task({
      name: "check",
      description: "Check",
      handler: ({ idempotencyKey }) =>
        idempotencyKey.endsWith("@1") ? "RETRY: once more" : "APPROVE",
    });
    const second = new Phase({
      name: "second",
      after: [first],
      tasks: [task("q")],
      review: new PhaseReview({ task: check, maxRetries: 1 }),
    });
    return { phases: [first, second] };
  }),
  "a loop": simple(() => ({
    loops: [new Loop({ name: "twice", tasks: [task("draft"), task("critic")], maxIterations: 2 })],
  })),
  "a graph": simple(() => ({
    graph: roundGraph(task, 3),
  })),
  "a manager": simple(() => ({ workflow: "HIERARCHICAL", tasks: [task("A"), task("B")] })),
  "peers that delegate concurrently, one after an approval": simple((life) => ({
    workflow: "PARALLEL",
    agents: [agent("A", { tools: [{ ...life.pay(), requireApproval: true }] }), agent("B")],
    reviewHandler: person(life, () => ReviewDecision.continue()),
    tasks: ["lead", "chief"].map((name) => task(name, { agent: agent(name, { allowDelegation: true }) })), // prettier-ignore
  })),
  "map and reduce in chunks": (life, plugins) =>
    new MapReduceEnsemble({
      model: model(life),
      ...PRICES,
      plugins,
      items: ["x", "y", "z"],
      chunkSize: 2,
      mapTask: (item) => task(`map-${item}`),
      reduceTask: (tasks) => new Task({ description: "Bring together", agent: agent("Editor"), context: tasks }), // prettier-ignore
    }),
  "map and reduce within a budget": (life, plugins) =>
    new MapReduceEnsemble({
      model: model(life),
      ...PRICES,
      plugins,
      items: ["x", "y", "z", "w"],
      targetTokenBudget: 8,
      mapTask: (item) => task(`map-${item}`),
      reduceTask: (tasks) => new Task({ description: "Bring together", agent: agent("Editor"), context: tasks }), // prettier-ignore
    }),
  "handlers with steps": simple((life) => ({
    tasks: [
      new Task({
        name: "code",
        description: "Code",
        handler: async (ctx) => {
          const parts: number[] = [];
          for (const name of ["p", "q"])
            parts.push(
              await once(ctx, name, async (key) => {
                await life.alive();
                life.world.effects.push(key);
                return parts.length;
              }),
            );
          return { parts };
        },
      }),
      task("text"),
    ],
  })),
  "a guardrail that repeats a task": simple(() => ({
    tasks: [
      task("strict", {
        guardrailRetries: 5,
        outputGuardrails: [
          ({ raw }: { readonly raw: string }) =>
            Number(raw.replace("said ", "")) % 2 === 0 ? true : GuardrailResult.failure("be even"),
        ],
      }),
      task("next"),
    ],
  })),
  "a guard that calls a model": simple(() => ({ plugins: [judge()], tasks: [task("one"), task("two")] })), // prettier-ignore
  "reviews before and after, and an edit": simple((life) => ({
    reviewHandler: person(life, (text) =>
      text === "" ? ReviewDecision.continue() : ReviewDecision.edit(`${text}!`),
    ),
    plugins: [judge()],
    tasks: [task("one", { beforeReview: Review.required(), review: Review.required() }), task("two")], // prettier-ignore
  })),
  "a retry and another model": teamOf((life) => ({
    ...PRICES,
    model: shaky(life, "first"),
    plugins: [
      retry({ maxAttempts: 2, baseDelayMs: 0 }),
      fallback([life.model(new ScriptedModel(answers, { provider: "second" }))]),
    ],
    tasks: [task("one"), task("two")],
  })),
  "a rate limit": simple(() => ({
    rateLimit: RateLimit.of(1_000, 1_000),
    tasks: [task("one"), task("two")],
  })),
  "a budget": simple(() => ({
    plugins: [budget({ maxTokens: 100_000, maxCost: 1_000_000, maxOutputTokensPerCall: 100 })],
    tasks: [task("one"), task("two")],
  })),
  memory: simple((life) => ({
    memory: { shortTerm: true },
    memoryStore: store(life),
    tasks: ["one", "two"].map((name) => task(name, { memory: [MemoryScope.of("facts")] })),
  })),
  reflection: simple((life) => ({
    reflectionStore: life.world.outside("lessons", () => ReflectionStore.inMemory()),
    tasks: [task("one", { reflect: true }), task("two")],
  })),
  "a value that JSON changes, and an image": simple(() => {
    const outputType = z.object({ day: z.string().transform((text) => new Date(text)) });
    const first = new Task({ name: "day", description: "Which day?", agent: agent("Clerk"), outputType }); // prettier-ignore
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mediaType: "image/png" };
    return { tasks: [first, task("two", { context: [first], attachments: [image] })] };
  }),
  "an agent that a model creates": simple(() => ({
    agentSynthesizer: AgentSynthesizer.llmBased(),
    tasks: [new Task({ name: "one", description: "Do one" }), task("two")],
  })),
  "a worker that fails": simple(() => ({
    agents: [agent("A", { background: "This must fail" }), agent("B")],
    tasks: [task("lead", { agent: agent("lead", { allowDelegation: true }) }), task("two")],
  })),
  streaming: simple(() => ({ streaming: true, tasks: [task("one"), task("two")] })),
  "an early exit after a review": simple((life) => ({
    reviewHandler: person(life, () => ReviewDecision.exitEarly()),
    tasks: [task("one"), task("two", { review: Review.required() }), task("never")],
  })),
  "an effect that may be in doubt": simple((life) => ({
    reviewHandler: async (request) => {
      await life.alive();
      const { toolName, prompt = "", callId = "" } = request;
      const key = /\((.*)\)\. Continue/.exec(prompt)?.[1] ?? callId;
      const sent = life.world.done.get(key);
      return toolName === "mail" && sent !== undefined
        ? ReviewDecision.edit(`sent ${sent}`)
        : ReviewDecision.continue();
    },
    tasks: [task("one", { agent: agent("one", { tools: [life.mail()] }) }), task("two")],
  })),
};
