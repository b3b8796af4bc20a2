import type { EnsembleOptions, LlmCall } from "agentensemble";
import { definePlugin, Ensemble, Kernel, RateLimit, Task } from "agentensemble";
import { BudgetExceededError, budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { derivedOptions, originOf } from "../../src/contracts/derived-options.js";
import { failure } from "../support/kernel-fixtures.js";

describe("derived options", () => {
  const tasks = [Task.of("Say hello")];

  it("keep the settings of an ensemble, and omit its shape and plugins", () => {
    const options: EnsembleOptions = {
      model: "offline:model",
      workflow: "PARALLEL",
      maxConcurrency: 2,
      tasks: [Task.of("Something else")],
      verbose: true,
      plugins: [definePlugin({ name: "own" })],
    };
    const { model, verbose, ...others } = derivedOptions(options, { tasks });
    expect({ model, verbose }).to.deep.equal({ model: "offline:model", verbose: true });
    expect(Object.keys(others)).to.deep.equal(["tasks"]);
    expect(others.tasks).to.equal(tasks);
  });

  it("name the ensemble that they come from, through any number of derivations", () => {
    const options: EnsembleOptions = { tasks };
    const twice = derivedOptions(derivedOptions(options, { tasks }), { tasks });
    expect(originOf(options)).to.equal(options);
    expect(originOf(twice)).to.equal(options);
  });

  it("name the same origin in runs of the ensemble and of derived ensembles", async () => {
    const origins: EnsembleOptions[] = [];
    const watch = definePlugin({
      name: "watch",
      apply: ({ hooks }) =>
        hooks.beforeRun.tap(({ run }) => void origins.push(originOf(run.options))),
    });
    await using kernel = new Kernel({ plugins: [watch] });
    const options: EnsembleOptions = { kernel, model: new ScriptedModel(() => "Hello"), tasks };
    await new Ensemble(options).run();
    await new Ensemble(derivedOptions(options, { tasks })).run();
    expect(origins).to.deep.equal([options, options]);
    expect(origins.every((origin) => origin === options)).to.equal(true);
  });

  it("share the budget of the run they join", async () => {
    await using kernel = new Kernel({ plugins: [budget({ maxTokens: 400 })] });
    const model = new ScriptedModel(() => ({
      text: "Hello",
      usage: { inputTokens: 10, outputTokens: 150 },
    }));
    const options: EnsembleOptions = {
      kernel,
      model,
      tasks: [
        new Task({
          description: "Serve",
          handler: async ({ run }) => {
            const inner = new Ensemble(derivedOptions(options, { tasks }));
            for (let n = 0; n < 9; n++) await inner.run({}, { parent: run });
            return "served";
          },
        }),
      ],
    };
    const error = await failure(new Ensemble(options).run());
    expect(BudgetExceededError.find(error)?.limit).to.equal("maxTokens");
    expect(model.requests.length).to.be.within(1, 3);
  });
});

describe("ensembles with the same rate limit object", () => {
  const rateLimit = RateLimit.of(2, 60_000).with({ waitTimeoutMs: 20 });
  const run = async (...all: readonly EnsembleOptions[]): Promise<number> => {
    const model = new ScriptedModel(() => "Hello");
    await using kernel = new Kernel();
    await Promise.all(
      all.map((options) =>
        new Ensemble({ ...options, model, kernel, workflow: "PARALLEL" }).run(
          {},
          { throwOnError: false },
        ),
      ),
    );
    return model.requests.length;
  };
  const two = (): readonly Task[] => [Task.of("Say hello"), Task.of("Say goodbye")];

  it("share one window, whether or not one is derived from the other", async () => {
    const options: EnsembleOptions = { rateLimit, tasks: two() };
    expect(await run(options, derivedOptions(options, { tasks: two() }))).to.equal(2);
    expect(await run(options, { rateLimit, tasks: two() })).to.equal(2);
  });

  it("have separate windows if each has its own limit", async () => {
    const options: EnsembleOptions = { rateLimit, tasks: two() };
    expect(await run(options, { rateLimit: rateLimit.with({}), tasks: two() })).to.equal(4);
  });
});

describe("run options", () => {
  it("contain listeners that receive the events of one run after the ensemble's listeners", async () => {
    const seen: string[] = [];
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "Hello"),
      tasks: [Task.of("Say hello")],
      onTaskStart: () => void seen.push("ensemble"),
    });
    await ensemble.run({}, { listeners: [{ onTaskStart: () => void seen.push("run") }] });
    await ensemble.run();
    expect(seen).to.deep.equal(["ensemble", "run", "ensemble"]);
  });

  it("request a stream if a listener of the run accepts tokens", async () => {
    let streamed = 0;
    const model = new ScriptedModel(() => "Hello there");
    const stream = model.stream?.bind(model);
    Object.defineProperty(model, "stream", {
      value: (...args: Parameters<NonNullable<typeof stream>>) => {
        streamed++;
        return stream?.(...args);
      },
    });
    await using ensemble = new Ensemble({ model, tasks: [Task.of("Say hello")] });
    await ensemble.run({}, { listeners: [{ on: () => undefined }] });
    expect(streamed).to.equal(0);
    const tokens: string[] = [];
    await ensemble.run({}, { listeners: [{ onToken: ({ token }) => void tokens.push(token) }] });
    expect(streamed).to.equal(1);
    expect(tokens.join("")).to.equal("Hello there");
  });

  it("contain a priority, which applies to model calls and to runs that join", async () => {
    const calls: LlmCall["priority"][] = [];
    const watch = definePlugin({
      name: "watch",
      apply: ({ hooks }) => hooks.beforeLlmCall.tap(({ priority }) => void calls.push(priority)),
    });
    await using kernel = new Kernel({ plugins: [watch] });
    const model = new ScriptedModel(() => "Hello");
    const inner = new Ensemble({ kernel, model, tasks: [Task.of("Say hello")] });
    const outer = new Ensemble({
      kernel,
      model,
      tasks: [
        Task.of("Say goodbye"),
        new Task({
          description: "Ask others",
          handler: async ({ run }) => (await inner.run({}, { parent: run })).raw,
        }),
      ],
    });
    await outer.run({}, { priority: "HIGH" });
    await inner.run({}, { priority: "LOW" });
    await inner.run();
    expect(calls).to.deep.equal(["HIGH", "HIGH", "LOW", "NORMAL"]);
  });

  for (const [what, options, part] of [
    ["an unknown priority", { priority: "URGENT" }, "run() priority"],
    ["listeners that are not a list", { listeners: {} }, "run() listeners"],
    ["a callback that is not a function", { listeners: [{ onToken: 7 }] }, "onToken"],
  ] as const)
    it(`refuse ${what}`, async () => {
      await using ensemble = new Ensemble({
        model: new ScriptedModel([]),
        tasks: [Task.of("Say hello")],
      });
      const error = await failure(ensemble.run({}, options as never)); // what JavaScript may pass
      expect(error).to.have.property("code", "AE_VALIDATION");
      expect((error as Error).message).to.include(part);
    });
});
