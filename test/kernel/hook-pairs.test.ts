import type { AnyTask, EnsembleHooks, EnsembleOptions, MemoryStore, Plugin } from "agentensemble";
import { Agent, Task, Tokens, answer, definePlugin, reject, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import {
  echo,
  failing,
  runToEnd,
  scoped,
  tapping,
  untilAborted,
} from "../support/kernel-fixtures.js";

type Outcome = "ok" | "answered" | "rejected" | "failed" | "aborted";
/** The behaviour of the step between the hooks of a pair. */
type Way = "succeed" | "fail" | "hang";

const STEPS = ["Run", "Task", "LlmCall", "ToolCall", "Delegation", "MemoryWrite"] as const;
type Step = (typeof STEPS)[number];

/** Executes the step; `started` is called if it hangs. */
async function act(way: Way, signal: AbortSignal, started: () => void): Promise<string> {
  if (way === "fail") throw new Error("broken");
  if (way === "succeed") return "done";
  started();
  return untilAborted(signal);
}

const worker = new Agent({ role: "Worker", goal: "Work" });

function modelOf(way: Way, started: () => void): ScriptedModel {
  const model = new ScriptedModel(["done"], { onExhausted: "repeat-last" });
  if (way === "succeed") return model;
  model.chat = async (_request, o) => {
    await act(way, o?.signal ?? AbortSignal.abort(), started);
    throw new Error("unreachable");
  };
  return model;
}

function storeOf(way: Way, signal: AbortSignal, started: () => void): MemoryStore {
  const none = async (): Promise<never> => Promise.reject(new Error("not used"));
  return {
    store: async () => void (await act(way, signal, started)),
    retrieve: none,
    evict: none,
    clear: none,
  };
}

/** An ensemble with one step of this kind and behaviour. */
function arranged(step: Step, way: Way, signal: AbortSignal, started: () => void): EnsembleOptions {
  const model = modelOf(way, started);
  const entry = { content: "x", storedAt: new Date(0) };
  const request = {
    taskId: "d1",
    agentRole: "Worker",
    taskDescription: "Help",
    scope: {},
    priority: "NORMAL" as const,
    maxOutputRetries: 0,
    metadata: {},
  };
  const acting = tool({
    name: "act",
    description: "Acts",
    execute: (_input, context) => act(way, context.signal, started),
  });
  const tasks: Readonly<Record<Step, AnyTask>> = {
    Run: new Task({ description: "work", handler: (ctx) => act(way, ctx.signal, started) }),
    Task: new Task({ description: "work", handler: (ctx) => act(way, ctx.signal, started) }),
    LlmCall: new Task({
      description: "work",
      agent: new Agent({ role: "Speaker", goal: "Speak" }),
    }),
    ToolCall: new Task({ description: "work", handler: acting }),
    Delegation: scoped("work", async (scope) => (await scope.delegate(request)).status),
    MemoryWrite: scoped("work", (scope) => scope.writeMemory("notes", entry)),
  };
  const memory = definePlugin({
    name: "memory",
    bind: (bind) =>
      void bind.single(Tokens.MemoryStore).toConstantValue(storeOf(way, signal, started)),
  });
  return { tasks: [tasks[step]], model, agents: [worker], plugins: [memory] };
}

interface Seen {
  readonly before: Map<Step, number>;
  readonly after: Map<Step, Outcome[]>;
}

/** Counts every before and every after hook. Its own taps come first and change nothing. */
function probe(seen: Seen): Plugin {
  return tapping("probe", ({ hooks }) => {
    for (const step of STEPS) {
      const before = hooks[`before${step}`] as EnsembleHooks["beforeTask"]; // all used fields are common to both
      const after = hooks[`after${step}`] as EnsembleHooks["afterTask"];
      const lane = step === "Run" ? "policy" : "transform";
      before.tap(
        { name: "count", lane: lane as "policy", order: "pre" },
        () => void seen.before.set(step, (seen.before.get(step) ?? 0) + 1),
      );
      after.tap(
        { name: "count", order: "pre" },
        (call) => void seen.after.set(step, [...(seen.after.get(step) ?? []), call.outcome]),
      );
    }
  });
}

/** A plugin that ends the pair before the step happens. */
function intercepting(step: Step, how: "answer" | "reject" | "throw"): Plugin {
  return tapping("intercept", ({ hooks }) => {
    const hook = hooks[`before${step}`] as EnsembleHooks["beforeTask"];
    const answers: Readonly<Record<Step, unknown>> = {
      Run: undefined,
      Task: { raw: "answered" },
      LlmCall: { message: { role: "assistant", content: "answered" }, finishReason: "stop" },
      ToolCall: "answered",
      Delegation: {
        taskId: "d1",
        status: "SUCCESS",
        workerRole: "Worker",
        rawOutput: "answered",
        errors: [],
        durationMs: 0,
      },
      MemoryWrite: undefined,
    };
    if (how === "answer")
      hook.tap({ name: how, lane: "answer" }, () =>
        answer(answers[step] as { readonly raw: string }),
      ); // of the step's own type
    else if (how === "reject") hook.tap({ name: how }, () => reject("no"));
    else
      hook.tap({ name: how }, () => {
        throw new Error("the guard is broken");
      });
  });
}

async function observe(step: Step, way: Way, extra: readonly Plugin[] = []): Promise<Seen> {
  const seen: Seen = { before: new Map(), after: new Map() };
  const controller = new AbortController();
  const options = arranged(step, way, controller.signal, () => controller.abort());
  await runToEnd(
    { ...options, plugins: [probe(seen), ...(options.plugins ?? []), ...extra] },
    { signal: controller.signal, cancelGraceMs: 20 },
  );
  return seen;
}

function expectPairs(seen: Seen, step: Step, outcome: Outcome): void {
  expect(seen.after.get(step)).to.deep.equal([outcome]);
  for (const other of STEPS)
    expect([other, seen.after.get(other)?.length ?? 0]).to.deep.equal([
      other,
      seen.before.get(other) ?? 0,
    ]);
}

describe("an after hook fires exactly once for each before hook that fired", () => {
  for (const step of STEPS) {
    it(`${step}: ok, failed, aborted`, async () => {
      expectPairs(await observe(step, "succeed"), step, "ok");
      expectPairs(await observe(step, "fail"), step, "failed");
      expectPairs(await observe(step, "hang"), step, "aborted");
    });

    it(`${step}: rejected, and failed by a broken guard`, async () => {
      expectPairs(await observe(step, "succeed", [intercepting(step, "reject")]), step, "rejected");
      expectPairs(await observe(step, "succeed", [intercepting(step, "throw")]), step, "failed");
    });

    if (step === "Run" || step === "MemoryWrite") continue;
    it(`${step}: answered`, async () => {
      expectPairs(await observe(step, "fail", [intercepting(step, "answer")]), step, "answered");
    });
  }

  it("afterRun receives the output of a success, and the error with the partial output otherwise", async () => {
    const seen: unknown[] = [];
    const plugin = tapping("watch", ({ hooks }) =>
      hooks.afterRun.tap(
        (call) =>
          void seen.push(
            call.outcome,
            call.output?.raw ?? (call.error as { output?: { raw: string } }).output?.raw,
          ),
      ),
    );
    await runToEnd({ tasks: [echo("one")], plugins: [plugin] });
    await runToEnd({ tasks: [echo("one"), failing("two")], plugins: [plugin] });
    expect(seen).to.deep.equal(["ok", "one", "failed", "one"]);
  });

  it("a failing guard of a tool call or a delegation fails the task, without another model call", async () => {
    for (const step of ["ToolCall", "Delegation"] as const) {
      const { error } = await runToEnd({
        ...arranged(step, "succeed", new AbortController().signal, () => undefined),
        plugins: [intercepting(step, "throw")],
      });
      expect(error).to.have.property("code", "AE_TASK_EXECUTION");
      const hooks: unknown[] = [];
      for (let e: unknown = error; e instanceof Error; e = e.cause)
        hooks.push((e as { hook?: string }).hook);
      expect(hooks).to.include(`before${step}`);
    }
  });
});
