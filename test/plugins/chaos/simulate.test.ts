import { join } from "node:path";
import { expect } from "chai";
import { Agent } from "../../../src/contracts/agent.js";
import { FileFormatError } from "../../../src/contracts/state-errors.js";
import type { Plugin } from "../../../src/contracts/plugin.js";
import { Review, ReviewDecision } from "../../../src/contracts/review.js";
import { RateLimit } from "../../../src/contracts/rate-limit.js";
import { Task } from "../../../src/contracts/task.js";
import { tool } from "../../../src/contracts/tool.js";
import type { EnsembleOptions } from "../../../src/contracts/ensemble-options.js";
import { Ensemble } from "../../../src/ensemble/ensemble.js";
import { chaos } from "../../../src/plugins/chaos/index.js";
import { retry } from "../../../src/plugins/resilience/retry/index.js";
import { simulate, type SimulateOptions } from "../../../src/plugins/chaos/simulate.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { rejection } from "../../support/rejection.js";

/** A model that fails the test if it is called. */
const unused = new ScriptedModel(() => {
  throw new Error("The model was called");
});
/** Each call takes 1,000 ms and has 50 output tokens. */
const second = { outputTokens: 50, spread: 0, firstTokenMs: 500, msPerOutputToken: 10 };

type Team = Pick<SimulateOptions, "team">["team"];

function teamOf(tasks: readonly Task[], options: Partial<EnsembleOptions> = {}): Team {
  return (plugin: Plugin) => new Ensemble({ model: unused, plugins: [plugin], tasks, ...options });
}

function chain(length: number): readonly Task[] {
  return Array.from({ length }, (_, index) => new Task({ description: `Step ${index}` }));
}

function diamond(): readonly Task[] {
  const top = new Task({ description: "Top" });
  const left = new Task({ description: "Left", context: [top] });
  const right = new Task({ description: "Right", context: [top] });
  return [top, left, right, new Task({ description: "Bottom", context: [left, right] })];
}

const prices = { inputTokenRate: 0.001, outputTokenRate: 0.01, currency: "EUR" };

describe("simulate()", () => {
  it("adds up the calls of a chain", async () => {
    const { durationMs, llmCalls, failures, assumedCalls } = await simulate({
      team: teamOf(chain(3)),
      runs: 4,
      defaults: second,
    });
    expect(durationMs).to.deep.equal({
      mean: 3_000,
      p50: 3_000,
      p90: 3_000,
      p99: 3_000,
      max: 3_000,
    });
    expect(llmCalls.mean).to.equal(3);
    expect(assumedCalls).to.equal(12);
    expect(failures).to.deep.equal({});
  });

  it("counts the parallel tasks of a diamond once", async () => {
    const { durationMs, llmCalls } = await simulate({
      team: teamOf(diamond(), { workflow: "PARALLEL" }),
      runs: 4,
      defaults: second,
    });
    expect(durationMs.p50).to.equal(3_000);
    expect(durationMs.max).to.equal(3_000);
    expect(llmCalls.mean).to.equal(4);
  });

  it("waits for a rate limit in virtual time", async () => {
    // Calls start at 0 and 0, then at 10,002 and 10,002. The vendor's clock has a tolerance of 2
    // ms.
    const { durationMs, rateLimitWaitMs } = await simulate({
      team: teamOf(chain(4), { workflow: "PARALLEL", rateLimit: RateLimit.of(2, 10_000) }),
      runs: 2,
      defaults: second,
    });
    expect(durationMs.max).to.equal(11_002);
    expect(rateLimitWaitMs.max).to.equal(20_004);
  });

  it("refuses calls that would wait for a rate limit too long", async () => {
    const { failures, rateLimitWaitMs } = await simulate({
      team: teamOf(chain(2), { rateLimit: RateLimit.of(1, 60_000) }),
      runs: 3,
      defaults: second,
    });
    expect(failures).to.deep.equal({ AE_RATE_LIMIT_TIMEOUT: 3 });
    expect(rateLimitWaitMs.max).to.equal(0);
  });

  it("charges the prices of the ensemble", async () => {
    const report = await simulate({
      team: teamOf(chain(2), { costConfiguration: prices }),
      runs: 20,
      defaults: { ...second, spread: 0.4 },
    });
    const { cost, currency, inputTokens, outputTokens } = report;
    expect(currency).to.equal("EUR");
    expect(cost?.mean).to.be.closeTo(inputTokens.mean * 0.001 + outputTokens.mean * 0.01, 1e-6);
    expect(outputTokens.p90).to.be.above(outputTokens.p50);
  });

  it("returns the same report for the same seed, and another one for another seed", async () => {
    const once = async (seed: number): Promise<unknown> =>
      simulate({ team: teamOf(diamond(), { workflow: "PARALLEL" }), runs: 20, seed });
    const first = await once(7);
    expect(await once(7)).to.deep.equal(first);
    expect(await once(8)).not.to.deep.equal(first);
  });

  it("simulates 1,000 runs of five tasks in a few seconds of processor time", async function () {
    this.timeout(60_000);
    const before = process.cpuUsage();
    const { runs } = await simulate({ team: teamOf(chain(5)), runs: 1_000 });
    const { user, system } = process.cpuUsage(before);
    expect(runs).to.equal(1_000);
    expect((user + system) / 1e6).to.be.below(10);
  });

  it("adds the failures of chaos() and the waits of retries, in virtual time", async () => {
    const faults = [
      { kind: "vendor error", chance: 1, limit: 1 },
      { kind: "delay", chance: 1, limit: 1, delayMs: 60_000 },
    ] as const;
    const once = (retries: readonly Plugin[]): SimulateOptions => ({
      team: (plugin) =>
        new Ensemble({
          model: unused,
          plugins: [plugin, chaos({ faults }), ...retries],
          tasks: chain(1),
        }),
      runs: 2,
      defaults: second,
    });
    const retried = await simulate(once([retry({ maxAttempts: 2, baseDelayMs: 30_000 })]));
    expect(retried.failures).to.deep.equal({});
    // A delay of 60 s before the failure, a wait of the retry, a call of 1 s.
    expect(retried.durationMs.p50).to.be.above(61_000);
    const failed = await simulate(once([]));
    expect(failed.failures).to.deep.equal({ AE_MODEL_SERVER: 2 });
    expect(failed.durationMs.max).to.equal(60_000);
  });

  it("calls the reviewHandler, and counts reviews without a handler as failures", async () => {
    const tasks = [new Task({ description: "Pay", review: Review.required() })];
    let asked = 0;
    const reviewHandler = (): ReviewDecision => {
      asked++;
      return ReviewDecision.continue({ by: "test" });
    };
    const reviewed = await simulate({
      team: teamOf(tasks, { reviewHandler }),
      runs: 2,
      defaults: second,
    });
    expect([reviewed.failures, asked]).to.deep.equal([{}, 2]);
    const unanswered = await simulate({ team: teamOf(tasks), runs: 2 });
    expect(unanswered.failures).to.deep.equal({ AE_REVIEW_UNAVAILABLE: 2 });
  });

  it("repeats the delegations of a hierarchical team, with the calls of its workers", async () => {
    const usage = { inputTokens: 100, outputTokens: 20 };
    const agents = ["Ada", "Bob"].map((role) => new Agent({ role, goal: role }));
    const model = new ScriptedModel(({ messages, tools = [] }) => {
      const name = tools.find((one) => /delegate/i.test(one.name))?.name;
      const worker = agents[messages.filter(({ role }) => role === "tool").length];
      if (name === undefined || worker === undefined) return { text: "Done", usage };
      const args = { agentRole: worker.role, taskDescription: `Part of ${worker.role}` };
      return { toolCalls: [{ name, arguments: args }], usage };
    });
    const build = (plugins: readonly Plugin[]): Ensemble =>
      new Ensemble({
        model,
        plugins,
        workflow: "HIERARCHICAL",
        tasks: agents.map((agent) => new Task({ description: `Work of ${agent.role}`, agent })),
      });
    await using team = build([]);
    const { trace, metrics } = await team.run();
    expect(metrics.llmCallCount).to.equal(5);
    const report = await simulate({ team: (plugin) => build([plugin]), traces: [trace], runs: 2 });
    expect(report.failures).to.deep.equal({});
    expect(report.llmCalls.max).to.equal(5);
    expect(report.inputTokens.mean).to.equal(500);
    expect([report.measuredCalls, report.assumedCalls]).to.deep.equal([10, 0]);
  });

  describe("with traces", () => {
    let executed = 0;
    const look = tool({
      name: "look",
      description: "Looks",
      execute: () => {
        executed++;
        return "found";
      },
    });
    const agent = new Agent({ role: "Finder", goal: "Find", tools: [look] });
    const tasks = [new Task({ description: "Find", agent })];
    const usage = { inputTokens: 100, outputTokens: 20 };

    it("repeats the measured calls, tools and tokens, and executes no tool", async () => {
      const model = new ScriptedModel([
        { toolCalls: [{ name: "look", arguments: { input: "x" } }], usage },
        { text: "Found it", usage },
      ]);
      await using real = new Ensemble({ model, tasks });
      const { trace } = await real.run();
      const [task] = trace.taskTraces;
      const start = trace.startedAt.getTime();
      const at = (ms: number): Date => new Date(start + ms);
      const slow = {
        ...trace,
        taskTraces: [
          {
            ...task,
            llmInteractions: task?.llmInteractions.map((call, index) => ({
              ...call,
              startedAt: at(0),
              completedAt: at(index === 0 ? 700 : 300),
              toolCalls: call.toolCalls.map((made) => ({
                ...made,
                startedAt: at(0),
                completedAt: at(2_000),
              })),
            })),
          },
        ],
      } as unknown as typeof trace; // as a trace whose calls took long
      executed = 0;
      const report = await simulate({
        team: (plugin) => new Ensemble({ model, tasks, plugins: [plugin] }),
        traces: [slow],
        runs: 3,
      });
      expect(report.durationMs.max).to.equal(3_000);
      expect(report.inputTokens.mean).to.equal(200);
      expect(report.outputTokens.mean).to.equal(40);
      expect(report.measuredCalls).to.equal(6);
      expect(report.assumedCalls).to.equal(0);
      expect(executed).to.equal(0);
    });

    it("reuses calls of another agent with the same model, and assumes calls of other models", async () => {
      await using real = new Ensemble({
        model: new ScriptedModel([{ text: "A", usage }]),
        tasks: chain(1),
      });
      const { trace } = await real.run();
      const report = async (modelId: string): Promise<readonly number[]> => {
        const model = Object.assign(new ScriptedModel([]), { modelId });
        const { measuredCalls, assumedCalls } = await simulate({
          team: (plugin) => new Ensemble({ model, tasks, plugins: [plugin] }),
          traces: [trace],
          runs: 2,
        });
        return [measuredCalls, assumedCalls];
      };
      expect(await report("scripted")).to.deep.equal([2, 0]);
      expect(await report("other")).to.deep.equal([0, 2]);
    });

    it("reads a trace from its file", async () => {
      await using real = new Ensemble({
        model: new ScriptedModel([{ text: "A", usage }]),
        tasks: chain(1),
      });
      const { trace } = await real.run();
      const file = join(temporaryFolder(), "a.trace.json");
      await trace.save(file);
      const report = await simulate({ team: teamOf(chain(1)), traces: [file], runs: 2 });
      expect(report.measuredCalls).to.equal(2);
      expect(report.outputTokens.mean).to.equal(20);
    });

    it("refuses a file that is not a trace", async () => {
      const error = await rejection(simulate({ team: teamOf(tasks), traces: ["package.json"] }));
      expect(error).to.be.instanceOf(FileFormatError);
    });
  });

  for (const [wrong, message] of [
    [{ run: 3 }, "runs"],
    [{ runs: 0 }, "runs"],
    [{ defaults: { spread: -1 } }, "spread"],
    [{ inputs: [] }, "inputs"],
  ] as const)
    it(`refuses ${JSON.stringify(wrong)}`, async () => {
      const error = await rejection(simulate({ team: teamOf(chain(1)), ...wrong }));
      expect((error as Error).message).to.include(message);
    });
});
