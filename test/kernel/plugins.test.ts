import type { Plugin, PluginError } from "agentensemble";
import { Ensemble, Kernel, Tokens, ValidationError, definePlugin } from "agentensemble";
import { expect } from "chai";
import { rejection } from "../support/rejection.js";
import { echo, failure, waiting } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

/** A plugin that records its calls. */
function traced(log: string[], name: string, more: Partial<Plugin> = {}): Plugin {
  return {
    name,
    bind: () => void log.push(`${name} bind`),
    apply: () => void log.push(`${name} apply`),
    start: () => void log.push(`${name} start`),
    dispose: () => void log.push(`${name} dispose`),
    ...more,
  };
}

const throwing =
  (message: string): (() => never) =>
  () => {
    throw new Error(message);
  };

describe("kernel.describe()", () => {
  const plugin = (name: string, order: "pre" | "post"): Plugin => ({
    name,
    bind: (bind) => void bind.many(Tokens.SecretFilter).toConstantValue((text) => text),
    apply: ({ hooks }) => {
      hooks.beforeTask.tap({ name: "judge", order }, () => undefined);
      hooks.beforeTask.tap({ name: "change", lane: "transform" }, () => undefined);
    },
  });

  it("lists the source of each binding and the taps of each lane, in the order in which taps run", async () => {
    await using kernel = new Kernel({ plugins: [plugin("a", "post"), plugin("b", "pre")] });
    await kernel.boot();
    const { plugins, tokens, hooks } = kernel.describe();
    expect(plugins).to.deep.equal(["a", "b"]);
    expect(hooks).to.deep.equal([
      { hook: "beforeTask", lane: "transform", taps: ["a/change", "b/change"] },
      { hook: "beforeTask", lane: "policy", taps: ["b/judge", "a/judge"] },
    ]);
    expect(tokens).to.deep.equal([
      { token: "SecretFilter", boundBy: ["a", "b"] },
      { token: "Clock", boundBy: ["kernel"] },
      { token: "IdGenerator", boundBy: ["kernel"] },
    ]);
  });

  it("lists only the plugins before the kernel has booted", () => {
    const kernel = new Kernel({ plugins: [plugin("a", "pre")] });
    expect(kernel.describe()).to.deep.equal({ plugins: ["a"], tokens: [], hooks: [] });
  });
});

describe("plugins", () => {
  it("execute bind, apply and start together, and are disposed of in reverse order", async () => {
    const log: string[] = [];
    const kernel = new Kernel({ plugins: [traced(log, "a"), traced(log, "b")] });
    await kernel.boot();
    await kernel.dispose();
    expect(log).to.deep.equal([
      "a bind",
      "b bind",
      "a apply",
      "b apply",
      "a start",
      "b start",
      "b dispose",
      "a dispose",
    ]);
  });

  it("follow the plugins that they depend on, and otherwise the given order", async () => {
    const log: string[] = [];
    const plain = (name: string, ...dependsOn: string[]): Plugin => ({
      name,
      dependsOn,
      start: () => void log.push(name),
    });
    await new Kernel({
      plugins: [plain("d", "b"), plain("c"), plain("b", "a"), plain("a"), plain("e")],
    }).boot();
    expect(log).to.deep.equal(["a", "b", "d", "c", "e"]);
  });

  it("of the user follow the standard ones, and replace those with the same name", async () => {
    const log: string[] = [];
    const kernel = new Kernel({
      plugins: [
        traced(log, "mine", { dependsOn: ["workflow-sequential"] }),
        traced(log, "workflow-sequential"),
      ],
    });
    const ensemble = new Ensemble({ tasks: [echo("x")], kernel });
    expect((await failure(ensemble.run())).message).to.include("Unknown workflow 'SEQUENTIAL'");
    expect(log.filter((entry) => entry.endsWith("start"))).to.deep.equal([
      "workflow-sequential start",
      "mine start",
    ]);
    await kernel.dispose();
  });

  it("are refused without the plugins that they depend on", async () => {
    const error = await failure(
      new Kernel({
        plugins: [{ name: "child", dependsOn: ["parnet"] }, { name: "parent" }],
      }).boot(),
    );
    expect(error).to.have.property("code", "AE_VALIDATION");
    expect(error.message)
      .to.include("'child'")
      .and.include("'parnet'")
      .and.include("Did you mean 'parent'");
  });

  it("are refused if they depend on each other in a cycle", async () => {
    const error = await failure(
      new Kernel({
        plugins: [
          { name: "x", dependsOn: ["a"] },
          { name: "a", dependsOn: ["b"] },
          { name: "b", dependsOn: ["a"] },
        ],
      }).boot(),
    );
    expect(error).to.have.property("code", "AE_VALIDATION");
    expect(error.message).to.include("a -> b -> a");
  });

  it("have unique names", () => {
    expect(() => new Kernel({ plugins: [{ name: "same" }, { name: "same" }] })).to.throw(
      ValidationError,
      "'same'",
    );
  });

  it("are refused if they are not plugins", () => {
    const uncalled = (): Kernel => new Kernel({ plugins: [() => traced([], "a")] });
    expect(uncalled)
      .to.throw(ValidationError)
      .with.property("hint", "Call the function that creates the plugin.");
    for (const plugin of [
      undefined,
      null,
      "name",
      {},
      { name: "" },
      { name: "x", apply: "no" },
      { name: "x", dependsOn: "y" },
    ]) {
      expect(() => new Kernel().use(plugin as unknown as Plugin), JSON.stringify(plugin)).to.throw(
        ValidationError,
      );
    }
    expect(() => new Kernel().use({ name: "x", aply: () => undefined } as Plugin)).to.throw(
      ValidationError,
      "Did you mean 'apply'",
    );
  });

  it("may be instances of a class", async () => {
    class Counting implements Plugin {
      readonly name = "counting";
      count = 0;
      start(): void {
        this.count++;
      }
    }
    const plugin = new Counting();
    await new Kernel({ plugins: [plugin] }).boot();
    expect(plugin.count).to.equal(1);
  });

  it("can't be added after the kernel has booted", async () => {
    const kernel = new Kernel();
    await kernel.boot();
    expect(() => kernel.use({ name: "late" })).to.throw(ValidationError, "'late'");
    expect(
      () => new Ensemble({ tasks: [echo("x")], kernel, plugins: [{ name: "late" }] }),
    ).to.throw(ValidationError, "booted");
    await kernel.dispose();
    expect(() => new Kernel({ plugin: [] } as object)).to.throw(
      ValidationError,
      "Did you mean 'plugins'",
    );
  });
});

describe("a boot that fails", () => {
  for (const step of ["bind", "apply", "start"] as const) {
    it(`in ${step} names the plugin and disposes of loaded plugins`, async () => {
      const log: string[] = [];
      const kernel = new Kernel({
        plugins: [traced(log, "good"), traced(log, "bad", { [step]: throwing("no disk") })],
      });
      const error = (await failure(kernel.boot())) as PluginError;
      expect(error).to.include({ code: "AE_PLUGIN", plugin: "bad", hook: step });
      expect(error.message).to.include("no disk");
      expect(log.at(-1)).to.equal("good dispose");
      expect(log.filter((entry) => entry === "good dispose")).to.have.length(1);
      expect(await rejection(kernel.boot())).to.equal(error);
      expect(await rejection(new Ensemble({ tasks: [echo("x")], kernel }).run())).to.equal(error);
      await kernel.dispose();
    });
  }

  it("passes framework errors of start() on unchanged", async () => {
    const own = new ValidationError("The file 'x' can't be read", { hint: "Name another." });
    const kernel = new Kernel({
      plugins: [definePlugin({ name: "reader", start: () => Promise.reject(own) })],
    });
    expect(await failure(kernel.boot())).to.equal(own);
    await kernel.dispose();
  });

  it("rejects if start() rejects later", async () => {
    const error = await failure(
      new Kernel({
        plugins: [
          definePlugin({ name: "slow", start: async () => Promise.reject(new Error("no net")) }),
        ],
      }).boot(),
    );
    expect(error).to.include({ code: "AE_PLUGIN", plugin: "slow", hook: "start" });
  });
});

describe("Kernel.dispose", () => {
  it("continues after a failure and collects all failures", async () => {
    const log: string[] = [];
    const kernel = new Kernel({
      plugins: [
        traced(log, "a"),
        traced(log, "b", { dispose: throwing("b is stuck") }),
        traced(log, "c", { dispose: async () => Promise.reject(new Error("c is stuck")) }),
      ],
    });
    await kernel.boot();
    const error = (await rejection(kernel.dispose())) as AggregateError;
    expect(error).to.be.instanceOf(AggregateError);
    expect(error.errors.map((e: PluginError) => [e.code, e.plugin, e.hook])).to.deep.equal([
      ["AE_PLUGIN", "c", "dispose"],
      ["AE_PLUGIN", "b", "dispose"],
    ]);
    expect(log.at(-1)).to.equal("a dispose");
  });

  it("disposes once, for any number of calls", async () => {
    const log: string[] = [];
    const kernel = new Kernel({ plugins: [traced(log, "a")] });
    await kernel.boot();
    await Promise.all([kernel.dispose(), kernel.dispose()]);
    await kernel[Symbol.asyncDispose]();
    expect(log.filter((entry) => entry === "a dispose")).to.have.length(1);
  });

  it("requires no boot, and prevents a later one", async () => {
    const log: string[] = [];
    const kernel = new Kernel({ plugins: [traced(log, "a")] });
    await kernel.dispose();
    expect(await failure(kernel.boot())).to.have.property("code", "AE_VALIDATION");
    expect(log).to.deep.equal([]);
  });

  it("ends current runs first, and refuses new ones", async () => {
    const kernel = new Kernel();
    const ensemble = new Ensemble({
      kernel,
      tasks: [waiting("wait", () => void (disposed = kernel.dispose()))],
    });
    let disposed: Promise<void> | undefined;
    const error = await failure(ensemble.run());
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(error.message).to.include("disposed");
    await disposed;
    expect(await failure(ensemble.run())).to.have.property("code", "AE_VALIDATION");
    expect(() => ensemble.stream()).to.not.throw();
    expect(await failure(ensemble.stream().output)).to.have.property("code", "AE_VALIDATION");
  });

  it("waits for the end of current runs before it disposes of plugins", async () => {
    const log: string[] = [];
    const plugin = definePlugin({
      name: "logger",
      apply: ({ hooks }) => {
        hooks.afterRun.tap({ name: "end" }, async () => {
          await pause(5);
          log.push("afterRun");
        });
      },
      dispose: () => void log.push("dispose"),
    });
    const kernel = new Kernel({ plugins: [plugin] });
    let disposed: Promise<void> | undefined;
    const tasks = [waiting("wait", () => void (disposed = kernel.dispose()))];
    const error = await failure(new Ensemble({ kernel, tasks }).run());
    await disposed;
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(log).to.deep.equal(["afterRun", "dispose"]);
  });

  it("is called by an ensemble only for a kernel that the ensemble created", async () => {
    const log: string[] = [];
    const own = new Ensemble({ tasks: [echo("x")], plugins: [traced(log, "own")] });
    await own.run();
    await own.dispose();
    expect(log).to.include("own dispose");
    const kernel = new Kernel({ plugins: [traced(log, "shared")] });
    const first = new Ensemble({ tasks: [echo("x")], kernel });
    await first.run();
    await first[Symbol.asyncDispose]();
    expect((await new Ensemble({ tasks: [echo("y")], kernel }).run()).raw).to.equal("y");
    expect(log).to.not.include("shared dispose");
    await kernel.dispose();
  });
});
