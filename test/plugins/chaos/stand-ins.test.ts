import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { z } from "zod";
import { Agent } from "../../../src/contracts/agent.js";
import type { ChatModel, ChatResponse } from "../../../src/contracts/chat-model.js";
import { RunTimeoutError, ValidationError } from "../../../src/contracts/errors.js";
import type { LlmCall } from "../../../src/contracts/hooks.js";
import type { EnsembleOutput } from "../../../src/contracts/output.js";
import { definePlugin } from "../../../src/contracts/plugin.js";
import { FileFormatError } from "../../../src/contracts/state-errors.js";
import { Task } from "../../../src/contracts/task.js";
import { tool } from "../../../src/contracts/tool.js";
import type { ExecutionTrace } from "../../../src/contracts/trace.js";
import { Ensemble } from "../../../src/ensemble/ensemble.js";
import { FaultPlan } from "../../../src/plugins/chaos/fault-plan.js";
import { faultyModel } from "../../../src/plugins/chaos/faulty-model.js";
import { MeasuredTasks } from "../../../src/plugins/chaos/measured-tasks.js";
import { rehearse, type RehearsedTeam } from "../../../src/plugins/chaos/rehearse.js";
import { simulate } from "../../../src/plugins/chaos/simulate.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { rejection } from "../../support/rejection.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A trace with these tasks, as a file may contain it. */
const traceOf = (...taskTraces: readonly unknown[]) =>
  ({ taskTraces }) as unknown as ExecutionTrace;
const callOf = (modelId: string, taskId = "task-1"): LlmCall =>
  ({ taskId, agentRole: "Finder", model: { modelId } }) as unknown as LlmCall;
const measured = (modelId: string, more: object = {}): object => ({
  taskId: "task-1",
  agentRole: "Finder",
  outcome: "completed",
  llmInteractions: [{ modelId, responseText: "found" }],
  ...more,
});

/** A team whose runs have these ends. */
function ending(end: () => object): RehearsedTeam {
  return {
    run: async () => {
      const metrics = { inputTokens: 1, outputTokens: 2, llmCallCount: 1 };
      return { totalDurationMs: 5, metrics, ...end() } as unknown as EnsembleOutput;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

describe("MeasuredTasks", () => {
  it("measures the workers of delegations, and the name of a model without its date", async () => {
    const tasks = new MeasuredTasks();
    const worker = measured("small-2024-08-06");
    await tasks.add(traceOf(measured("big", { delegations: [{ workerTrace: worker }, {}, null] })));
    expect(tasks.of(callOf("big"))).to.have.length(1);
    expect(tasks.of(callOf("small"))).to.have.length(1);
    expect(tasks.of(callOf("small-2024-08-06", "other"))).to.have.length(1);
    expect(tasks.of(callOf("unknown"))).to.deep.equal([]);
  });

  it("ignores incomplete attempts, failed calls and invalid entries", async () => {
    const tasks = new MeasuredTasks();
    const llmInteractions = [
      { modelId: "m", responseType: "ERROR" },
      { modelId: "m", purpose: "remote" },
    ];
    await tasks.add(
      traceOf(
        null,
        measured("m", { outcome: "failed" }),
        measured("m", { llmInteractions }),
        measured("m", { llmInteractions: [null] }),
      ),
    );
    expect(tasks.of(callOf("m"))).to.deep.equal([]);
    const toolCalls = [null, { toolName: "look", outcome: "SUCCESS" }];
    await tasks.add(traceOf(measured("m", { llmInteractions: [{ modelId: "m", toolCalls }] })));
    const [[call] = []] = tasks.of(callOf("m"));
    expect(call?.tools.map(({ name, isError, ms }) => [name, isError, ms])).to.deep.equal([
      ["", true, 0],
      ["look", false, 0],
    ]);
  });

  it("refuses values and files that are not traces, with the reason", async () => {
    const tasks = new MeasuredTasks();
    const value = await rejection(tasks.add({} as ExecutionTrace));
    expect(value).to.be.instanceOf(FileFormatError);
    expect(String(value)).to.include("traces is not a trace: it has no taskTraces");
    const path = join(temporaryFolder(), "cut.trace.json");
    writeFileSync(path, '{"taskTraces": [');
    const file = await rejection(tasks.add(path));
    expect(String(file)).to.include("cut.trace.json is not a trace: ").and.to.include("JSON");
  });
});

describe("simulate(), by run", () => {
  const look = tool({ name: "look", description: "Looks", execute: () => "never" });
  const agent = new Agent({ role: "Finder", goal: "Find", tools: [look] });

  it("repeats failures of tools, and estimates the tokens that a trace does not have", async () => {
    const results: (string | undefined)[] = [];
    const noting = definePlugin({
      name: "noting",
      apply: ({ hooks }) =>
        hooks.afterToolCall.tap(
          { name: "noting" },
          ({ result }) => void results.push(result?.errorMessage),
        ),
    });
    const trace = traceOf(
      measured("scripted", {
        llmInteractions: [
          {
            modelId: "scripted",
            responseText: "",
            toolCalls: [
              { toolName: "look", arguments: "{}", result: "no light", outcome: "ERROR" },
            ],
          },
          { modelId: "scripted", responseText: "12345678" },
        ],
      }),
    );
    const { outputTokens, inputTokens, llmCalls } = await simulate({
      team: (plugin) =>
        new Ensemble({
          model: new ScriptedModel([]),
          tasks: [new Task({ description: "Find", agent })],
          plugins: [plugin, noting],
        }),
      traces: [trace],
      runs: 1,
    });
    expect(results).to.deep.equal(["no light"]);
    expect(llmCalls.max).to.equal(2);
    expect(outputTokens.max).to.equal(2);
    expect(inputTokens.max).to.be.above(0);
  });

  it("repeats the last measured call if the task makes more calls", async () => {
    const { llmCalls, failures, measuredCalls } = await simulate({
      team: (plugin) =>
        new Ensemble({
          model: new ScriptedModel([]),
          tasks: [
            new Task({ description: "Find", agent, outputType: z.object({ n: z.number() }) }),
          ],
          plugins: [plugin],
        }),
      traces: [traceOf(measured("scripted"))],
      runs: 1,
    });
    expect(llmCalls.max).to.be.above(1);
    expect(measuredCalls).to.equal(llmCalls.max);
    expect(Object.values(failures)).to.deep.equal([1]);
  });

  it("uses a list of inputs in turn, and counts runs without a price as free", async () => {
    const seen: unknown[] = [];
    const ends = ending(() => ({}));
    const { cost, currency, rateLimitWaitMs } = await simulate({
      team: () => ({
        ...ends,
        run: async (inputs, options) => {
          seen.push(inputs);
          const output = await ends.run(inputs, options);
          const costEstimate = { totalCost: 4, currency: "EUR" };
          return seen.length > 1
            ? output
            : ({ ...output, metrics: { ...output.metrics, costEstimate } } as EnsembleOutput);
        },
      }),
      inputs: [{ n: 1 }, { n: 2 }],
      runs: 4,
    });
    expect(seen).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 1 }, { n: 2 }]);
    expect([cost?.mean, cost?.max, currency]).to.deep.equal([1, 4, "EUR"]);
    expect(rateLimitWaitMs.max).to.equal(0);
  });

  it("throws the error of a team whose configuration is refused", async () => {
    const error = new ValidationError("no such tool");
    const team = (): RehearsedTeam => ending(() => ({ error }));
    expect(await rejection(simulate({ team }))).to.equal(error);
  });

  for (const [wrong, message] of [
    [{ team: undefined }, "simulate team must be set"],
    [{ traces: "a.trace.json" }, "simulate traces must be a list, got: "],
    [{ defaults: { text: 5 } }, "simulate defaults text must be a text, got: 5"],
    [{ defaults: { outputTokens: Infinity } }, "outputTokens must be a number >= 0"],
  ] as const)
    it(`reports: ${message}`, async () => {
      const options = { team: () => ending(() => ({})), ...wrong } as never;
      expect(String(await rejection(simulate(options)))).to.include(message);
    });

  it("answers unmeasured calls with the text of the defaults", async () => {
    const task = new Task({ description: "Count", outputType: z.object({ n: z.number() }) });
    const { failures, assumedCalls } = await simulate({
      team: (plugin) =>
        new Ensemble({ model: new ScriptedModel([]), tasks: [task], plugins: [plugin] }),
      defaults: { text: '{"n": 1}' },
      runs: 2,
    });
    expect([failures, assumedCalls]).to.deep.equal([{}, 2]);
  });
});

describe("rehearse(), by end of a run", () => {
  const faults = [{ kind: "delay", chance: 0 }] as const;

  it("executes 20 runs by default", async () => {
    const { finished } = await rehearse({ team: () => ending(() => ({})), faults });
    expect(finished).to.equal(20);
  });

  it("reports errors of other kinds, thrown or returned", async () => {
    const thrown = (): never => {
      throw new TypeError("x is undefined");
    };
    for (const end of [thrown, () => ({ error: new TypeError("x is undefined") })]) {
      const report = await rehearse({ team: () => ending(end), faults, runs: 1 });
      expect(report.violations).to.deep.equal([
        "seed 1: the run ended with an error of another kind: x is undefined",
      ]);
      expect(report.runs[0]).to.include({ outcome: "refused" }).and.not.to.have.property("code");
    }
  });

  it("reports runs that did not end within their time", async () => {
    const team = (): RehearsedTeam => ending(() => ({ error: new RunTimeoutError(50) }));
    const report = await rehearse({ team, faults, runs: 1, timeoutMs: 50 });
    expect(report.violations).to.deep.equal(["seed 1: the run did not end within 50 ms"]);
    expect(report.runs[0]?.code).to.equal("AE_RUN_TIMEOUT");
    expect(report.refused).to.equal(1);
    const unset = await rehearse({ team, faults, runs: 1 });
    expect(unset.violations).to.deep.equal(["seed 1: the run did not end within 60000 ms"]);
  });
});

describe("faultyModel()", () => {
  const response: ChatResponse = {
    message: {
      role: "assistant",
      content: "12345678",
      toolCalls: [{ id: "1", name: "look", arguments: '{"a":1}' }],
    },
    finishReason: "tool_calls",
  };
  const model = {
    ...{ provider: "p", modelId: "m", name: "named" },
    chat: () => Promise.resolve(response),
    check(): void {
      throw new Error(`checked ${this.name}`);
    },
    identity() {
      return `identity of ${this.name}`;
    },
    redact(text: string) {
      return `${this.name}: ${text}`;
    },
  } satisfies ChatModel & { readonly name: string };
  const slept: number[] = [];
  const clock = { sleep: async (ms: number) => void slept.push(ms) };
  const call = {
    ...{ model, taskId: "task-1", taskAttempt: 1, iteration: 1, attempt: 1 },
    run: { id: "run-1", get: () => clock },
    signal: new AbortController().signal,
  } as unknown as LlmCall;

  it("keeps the other functions of the model", () => {
    const faulty = faultyModel(call, new FaultPlan({ faults: [] }), () => undefined);
    expect(() => faulty.check?.()).to.throw("checked named");
    expect(faulty.identity?.()).to.equal("identity of named");
    expect(faulty.redact?.("x")).to.equal("named: x");
    expect(faulty.stream).to.equal(undefined);
  });

  it("waits by the clock of the run, and halves the text and the arguments of tool calls", async () => {
    const faults = [
      { kind: "delay", chance: 1 },
      { kind: "wrong JSON", chance: 1 },
    ] as const;
    let answers = 0;
    const faulty = faultyModel(call, new FaultPlan({ faults }), () => void answers++);
    const { message } = await faulty.chat({ messages: [] });
    expect([slept, answers]).to.deep.equal([[1_000], 1]);
    expect(message.content).to.equal("1234");
    expect(message.toolCalls?.[0]?.arguments).to.equal('{"a"');
  });
});
