import { expect } from "chai";
import { z } from "zod";
import { Agent } from "../../../src/contracts/agent.js";
import { ValidationError } from "../../../src/contracts/errors.js";
import type { Plugin } from "../../../src/contracts/plugin.js";
import { Review } from "../../../src/contracts/review.js";
import { Task } from "../../../src/contracts/task.js";
import { tool } from "../../../src/contracts/tool.js";
import { Ensemble } from "../../../src/ensemble/ensemble.js";
import { chaos, type ChaosFault } from "../../../src/plugins/chaos/index.js";
import { rehearse } from "../../../src/plugins/chaos/rehearse.js";
import { retry } from "../../../src/plugins/resilience/retry/index.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { durable } from "../../../src/plugins/durability/durable/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const usage = { inputTokens: 10, outputTokens: 5 };
const add = tool({
  name: "add",
  description: "Adds",
  input: z.object({ a: z.number() }),
  execute: ({ a }) => String(a + 1),
});

/** Two tasks: one with a tool, one with a typed output and an optional review. */
function team(plugins: readonly Plugin[], review = false): Ensemble {
  const model = new ScriptedModel(({ messages }) => {
    const text = JSON.stringify(messages);
    if (text.includes("Give JSON")) return { text: '{"n": 1}', usage };
    return messages.some(({ role }) => role === "tool")
      ? { text: "Two", usage }
      : { toolCalls: [{ name: "add", arguments: { a: 1 } }], usage };
  });
  const agent = new Agent({ role: "Adder", goal: "Add", tools: [add] });
  return new Ensemble({
    model,
    plugins,
    tasks: [
      new Task({ description: "Add one", agent, ...(review && { review: Review.required() }) }),
      new Task({ description: "Give JSON", outputType: z.object({ n: z.number() }) }),
    ],
  });
}

/** The codes of an error and of its causes. */
function codesOf(error: unknown): readonly string[] {
  return error instanceof Error
    ? [String((error as { readonly code?: string }).code), ...codesOf(error.cause)]
    : [];
}

const ALWAYS = { chance: 1, limit: 1 } as const;

describe("chaos()", () => {
  for (const [fault, expected] of [
    [{ kind: "vendor error", code: "AE_MODEL_AUTH" }, "AE_MODEL_AUTH"],
    [{ kind: "cut stream" }, "AE_MODEL_BAD_RESPONSE"],
    [{ kind: "vendor error" }, "AE_MODEL_SERVER"],
  ] as const)
    it(`injects a ${fault.kind} with the code ${expected}`, async () => {
      const plugin = chaos({ faults: [{ ...fault, ...ALWAYS }] });
      await using ensemble = team([plugin]);
      const { error } = await ensemble.run({}, { throwOnError: false });
      expect(codesOf(error)).to.include(expected);
      expect(plugin.injected.map(({ kind }) => kind)).to.deep.equal([fault.kind]);
    });

  it("injects faults that retries, corrections and the agent repair", async () => {
    const faults: readonly ChaosFault[] = [
      { kind: "vendor error", ...ALWAYS },
      { kind: "tool failure", ...ALWAYS },
      { kind: "delay", delayMs: 1, ...ALWAYS },
    ];
    const plugin = chaos({ faults });
    await using ensemble = team([plugin, retry({ maxAttempts: 3, baseDelayMs: 1 })]);
    const output = await ensemble.run();
    expect(output.raw).to.equal('{"n": 1}');
    expect(new Set(plugin.injected.map(({ kind }) => kind)).size).to.equal(3);
  });

  it("truncates answers, which makes a typed output need a correction", async () => {
    const model = new ScriptedModel(() => ({ text: '{"n": 1}', usage }));
    const plugin = chaos({ faults: [{ kind: "wrong JSON", ...ALWAYS }] });
    await using ensemble = new Ensemble({
      model,
      plugins: [plugin],
      tasks: [new Task({ description: "Give JSON", outputType: z.object({ n: z.number() }) })],
    });
    expect((await ensemble.run()).raw).to.equal('{"n": 1}');
    expect(plugin.injected).to.have.length(1);
    expect(model.requests.length).to.be.greaterThan(1);
  });

  it("denies reviews", async () => {
    const plugin = chaos({ faults: [{ kind: "denied review", ...ALWAYS }] });
    await using ensemble = team([plugin], true);
    const output = await ensemble.run();
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
  });

  it("injects the same faults at the same steps with the same seed, and others with another", async () => {
    const injectedWith = async (seed: number): Promise<readonly string[]> => {
      const plugin = chaos({ seed, faults: [{ kind: "vendor error", chance: 0.5 }] });
      await using ensemble = team([plugin, retry({ maxAttempts: 9, baseDelayMs: 1 })]);
      await ensemble.run({}, { throwOnError: false });
      return plugin.injected.map(({ step }) => step);
    };
    const first = await injectedWith(3);
    expect(await injectedWith(3)).to.deep.equal(first);
    const others = await Promise.all([4, 5, 6, 7].map(injectedWith));
    expect(others.some((steps) => steps.join() !== first.join())).to.equal(true);
  });

  it("refuses unknown kinds and values out of range", () => {
    const refused = (fault: object): void =>
      void expect(() => chaos({ faults: [fault as ChaosFault] })).to.throw(ValidationError);
    refused({ kind: "delays" });
    refused({ kind: "delay", chance: 2 });
    refused({ kind: "delay", code: "AE_MODEL_AUTH" });
    refused({ kind: "vendor error", delayMs: 5 });
    expect(() => chaos({ faults: [] })).to.throw(ValidationError);
  });
});

describe("rehearse()", () => {
  it("reports no violations for a team with retries", async () => {
    const report = await rehearse({
      team: (plugin) => team([plugin, retry({ maxAttempts: 6, baseDelayMs: 1 })]),
      faults: [
        { kind: "vendor error", chance: 0.2 },
        { kind: "cut stream", chance: 0.1 },
        { kind: "tool failure", chance: 0.2 },
      ],
      runs: 8,
      maxTokens: 1_000,
    });
    expect(report.violations).to.deep.equal([]);
    expect(report.runs).to.have.length(8);
    expect(report.finished + report.refused).to.equal(8);
    expect(report.injected["vendor error"]).to.be.greaterThan(0);
  });

  it("executes a lost run again, without repeated costs with durable()", async () => {
    const faults: readonly ChaosFault[] = [{ kind: "lost worker", chance: 1, limit: 1 }];
    const url = `file:${temporaryFolder()}`;
    const kept = await rehearse({
      team: (plugin) => team([durable({ url }), plugin]),
      faults,
      runs: 1,
    });
    expect([kept.violations, kept.finished]).to.deep.equal([[], 1]);
  });

  it("reports tokens above the limit and calls that were paid twice", async () => {
    const over = await rehearse({
      team: (plugin) => team([plugin]),
      faults: [{ kind: "delay", chance: 0 }],
      runs: 1,
      maxTokens: 20,
    });
    expect(over.violations[0]).to.match(/^seed 1: the run used \d+ tokens; at most 20/);
    const faults: readonly ChaosFault[] = [{ kind: "lost worker", chance: 0.5, limit: 1 }];
    const lost = await rehearse({ team: (plugin) => team([plugin]), faults, runs: 6 });
    expect(lost.violations.join()).to.include("paid 2 times");
  });

  it("checks the end of every execution of a run", async () => {
    const ends = [new Error("late"), new TypeError("worse"), undefined];
    const report = await rehearse({
      team: (plugin) => {
        const inner = team([plugin]);
        return {
          run: async (...args) => {
            const { metrics } = await inner.run(...args); // ends with the loss of its worker
            return { metrics, error: ends.shift() } as never;
          },
          [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
        };
      },
      faults: [{ kind: "lost worker", chance: 1 }],
      runs: 1,
      executions: 3,
    });
    expect(report.finished).to.equal(1);
    expect(report.violations).to.deep.equal([
      "seed 1: the run ended with an error of another kind: late",
      "seed 1: the run ended with an error of another kind: worse",
    ]);
  });
});
