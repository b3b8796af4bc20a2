import type { ChatModel, Clock, IdGenerator, Plugin, PluginError } from "agentensemble";
import {
  AgentEnsembleError,
  Ensemble,
  Kernel,
  Task,
  Tokens,
  ValidationError,
  createToken,
  definePlugin,
} from "agentensemble";
import { Container, ContainerModule } from "agentensemble/kernel";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import {
  Container as UsersContainer,
  ContainerModule as UsersModule,
  inject,
  injectable,
} from "inversify";
import { rejection } from "../support/rejection.js";
import { echo, failure } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

const clockAt = (year: number): Clock => ({
  now: () => new Date(Date.UTC(year, 0, 1)),
  monotonicMs: () => 0,
});
const binds = (name: string, bind: NonNullable<Plugin["bind"]>): Plugin =>
  definePlugin({ name, bind });
const clockPlugin = (
  name: string,
  year: number,
  o?: { readonly override?: boolean; readonly default?: boolean },
): Plugin =>
  binds(name, (bind) => void bind.single(Tokens.Clock, o).toConstantValue(clockAt(year)));

/** The year of the clock that a kernel uses. */
async function yearOf(kernel: Kernel): Promise<number> {
  await kernel.boot();
  const year = kernel.container.get(Tokens.Clock).now().getUTCFullYear();
  await kernel.dispose();
  return year;
}

describe("bindings of single values", () => {
  it("take precedence over a default, in any order", async () => {
    expect(
      await yearOf(
        new Kernel({
          plugins: [
            clockPlugin("d", 2001, { override: false }),
            clockPlugin("x", 2002, { override: true }),
          ],
        }),
      ),
    ).to.equal(2002);
    const fallback = createToken<string>("fallback");
    for (const order of [0, 1]) {
      const plugins = [
        binds(
          "default",
          (b) => void b.single(fallback, { default: true }).toConstantValue("default"),
        ),
        binds("direct", (b) => void b.single(fallback).toConstantValue("direct")),
      ];
      const kernel = new Kernel({ plugins: order === 0 ? plugins : plugins.reverse() });
      await kernel.boot();
      expect(kernel.container.get(fallback)).to.equal("direct");
    }
  });

  it("may be registered directly in kernel.container", async () => {
    const kernel = new Kernel();
    kernel.container.bind(Tokens.Clock).toConstantValue(clockAt(2003));
    expect(await yearOf(kernel)).to.equal(2003);
  });

  it("are a boot error that names both owners if there are two", async () => {
    const two = await failure(
      new Kernel({ plugins: [clockPlugin("first", 1), clockPlugin("second", 2)] }).boot(),
    );
    expect(two).to.have.property("code", "AE_PLUGIN");
    expect(two.message).to.include("'first'").and.include("'second'").and.include("Clock");
    const kernel = new Kernel({ plugins: [clockPlugin("plugin", 1)] });
    kernel.container.bind(Tokens.Clock).toConstantValue(clockAt(2));
    expect((await failure(kernel.boot())).message)
      .to.include("'plugin'")
      .and.include("'kernel.container'");
    const twice = new Kernel();
    twice.container.bind(Tokens.Clock).toConstantValue(clockAt(1));
    twice.container.bind(Tokens.Clock).toConstantValue(clockAt(2));
    expect((await failure(twice.boot())).message)
      .to.include("Clock")
      .and.include("kernel.container");
  });

  it("are replaced by an override, in any order", async () => {
    const plain = clockPlugin("plain", 2001);
    const override = clockPlugin("override", 2002, { override: true });
    expect(await yearOf(new Kernel({ plugins: [plain, override] }))).to.equal(2002);
    expect(await yearOf(new Kernel({ plugins: [override, plain] }))).to.equal(2002);
    const kernel = new Kernel({ plugins: [override] });
    kernel.container.bind(Tokens.Clock).toConstantValue(clockAt(2001));
    expect(await yearOf(kernel)).to.equal(2002);
  });

  it("are a boot error if two plugins override", async () => {
    const error = await failure(
      new Kernel({
        plugins: [clockPlugin("a", 1, { override: true }), clockPlugin("b", 2, { override: true })],
      }).boot(),
    );
    expect(error.message).to.include("'a'").and.include("'b'");
  });

  describe("that are defaults of several plugins", () => {
    const token = createToken<string>("several-defaults");
    const byDefault = (name: string): Plugin =>
      binds(name, (b) => void b.single(token, { default: true }).toConstantValue(name));
    const booted = async (...plugins: readonly Plugin[]): Promise<readonly unknown[]> => {
      await using kernel = new Kernel({ plugins });
      expect(kernel.providers(token)).to.deep.equal([]);
      await kernel.boot();
      return [kernel.container.get(token), kernel.providers(token)];
    };

    it("are replaced by the default of the last listed plugin, and the kernel reports the effective one", async () => {
      const [a, b] = [byDefault("a"), byDefault("b")];
      expect(await booted(a, b)).to.deep.equal(["b", ["b"]]);
      expect(await booted(b, a)).to.deep.equal(["a", ["a"]]);
      expect(await booted({ ...a, dependsOn: ["b"] }, b)).to.deep.equal(["a", ["a"]]);
    });

    it("are replaced by a direct binding in any position", async () => {
      const direct = binds("direct", (b) => void b.single(token).toConstantValue("direct"));
      for (const plugins of [
        [byDefault("a"), direct, byDefault("b")],
        [direct, byDefault("a")],
      ])
        expect(await booted(...plugins)).to.deep.equal(["direct", ["direct"]]);
      await using kernel = new Kernel({ plugins: [byDefault("a")] });
      kernel.container.bind(token).toConstantValue("user");
      await kernel.boot();
      expect([kernel.container.get(token), kernel.providers(token)]).to.deep.equal([
        "user",
        ["kernel.container"],
      ]);
    });

    it("are a boot error if one plugin has two", async () => {
      const twice = binds("twice", (b) => {
        for (const value of ["x", "y"]) b.single(token, { default: true }).toConstantValue(value);
      });
      const error = await failure(new Kernel({ plugins: [twice] }).boot());
      expect(error.message).to.include("has two defaults from 'twice'");
    });
  });

  it("name all contributors of a collecting token, and none of an unbound token", async () => {
    const tokens = createToken<number>("contributions", "many");
    const plugin = (name: string): Plugin =>
      binds(name, (b) => void b.many(tokens).toConstantValue(1));
    await using kernel = new Kernel({ plugins: [plugin("a"), plugin("b")] });
    await kernel.boot();
    expect(kernel.providers(tokens)).to.deep.equal(["a", "b"]);
    expect(kernel.providers(createToken("unheard-of"))).to.deep.equal([]);
  });

  it("reject other options", async () => {
    const plugin = binds(
      "p",
      (b) => void b.single(Tokens.Clock, { overide: true } as object).toConstantValue(clockAt(1)),
    );
    expect((await failure(new Kernel({ plugins: [plugin] }).boot())).message)
      .to.include("overide")
      .and.include("override");
  });

  it("are refused with many(), and contributions with single()", async () => {
    const single = binds(
      "p",
      (b) => void b.many(Tokens.Clock as never).toConstantValue(clockAt(1)),
    );
    const many = binds("p", (b) => void b.single(Tokens.Tool as never).toConstantValue({}));
    for (const plugin of [single, many])
      expect(await failure(new Kernel({ plugins: [plugin] }).boot())).to.have.property(
        "code",
        "AE_PLUGIN",
      );
  });

  it("are resolved with the other bindings, also for a default", async () => {
    const year = createToken<number>("year");
    const kernel = new Kernel({
      plugins: [
        binds(
          "p",
          (b) =>
            void b
              .single(year, { default: true })
              .toResolvedValue((clock: Clock) => clock.now().getUTCFullYear(), [Tokens.Clock]),
        ),
        clockPlugin("c", 2009),
      ],
    });
    await kernel.boot();
    expect(kernel.container.get(year)).to.equal(2009);
    await kernel.dispose();
  });
});

describe("contributions", () => {
  const word = createToken<string>("word", "many");
  const read = (
    seen: (readonly string[])[],
    name = "reader",
    dependsOn: readonly string[] = [],
  ): Plugin => definePlugin({ name, dependsOn, start: (ctx) => void seen.push(ctx.all(word)) });

  it("are ordered by plugin, in one frozen list", async () => {
    const seen: (readonly string[])[] = [];
    const plugins = ["a", "b"].map((text) =>
      binds(text, (b) => void b.many(word).toConstantValue(text)),
    );
    await new Kernel({ plugins: [...plugins, read(seen), read(seen, "again")] }).boot();
    expect(seen[0]).to.deep.equal(["a", "b"]).and.to.be.frozen;
    expect(seen[1]).to.equal(seen[0]);
  });

  it("are an empty list if there are none", async () => {
    const seen: (readonly string[])[] = [];
    await new Kernel({ plugins: [read(seen)] }).boot();
    expect(seen).to.deep.equal([[]]);
  });

  it("are an empty list for a factory that requests them during another resolution", async () => {
    const kernel = new Kernel();
    await new Ensemble({ tasks: [echo("x")], kernel }).run();
    expect(kernel.container.isBound(Tokens.Tool)).to.equal(false);
    await kernel.dispose();
  });

  it("of a run follow those of the container, and are visible in that run only", async () => {
    const seen: string[][] = [];
    const task = new Task({
      description: "x",
      handler: {
        name: "t",
        description: "d",
        execute: (_input, { scope }) => void seen.push([...scope.all(word)]),
      },
    });
    const kernel = new Kernel({
      plugins: [binds("a", (b) => void b.many(word).toConstantValue("root"))],
    });
    const ensemble = new Ensemble({ tasks: [task], kernel });
    await ensemble.run({}, { bindings: (b) => void b.many(word).toConstantValue("run") });
    await ensemble.run();
    expect(seen).to.deep.equal([["root", "run"], ["root"]]);
    await kernel.dispose();
  });
});

describe("the bindings of a run", () => {
  it("do not change root singletons: a value created from them is not kept for later runs", async () => {
    const stamp = createToken<{ readonly year: number }>("stamp");
    const seen: number[] = [];
    const task = new Task({
      description: "x",
      handler: {
        name: "t",
        description: "d",
        execute: (_input, { scope }) =>
          void seen.push(scope.get(stamp).year, scope.get(Tokens.Clock).now().getUTCFullYear()),
      },
    });
    const stamps = binds(
      "stamps",
      (b) =>
        void b
          .single(stamp)
          .toResolvedValue(
            (clock: Clock) => ({ year: clock.now().getUTCFullYear() }),
            [Tokens.Clock],
          )
          .inSingletonScope(),
    );
    const kernel = new Kernel({ plugins: [stamps, clockPlugin("clock", 2001)] });
    const ensemble = new Ensemble({ tasks: [task], kernel });
    await ensemble.run(
      {},
      { bindings: (b) => void b.single(Tokens.Clock).toConstantValue(clockAt(2099)) },
    );
    await ensemble.run();
    expect(seen).to.deep.equal([2001, 2099, 2001, 2001]);
    await kernel.dispose();
  });

  it("do not change contributions of the root", async () => {
    const year = createToken<number>("contributed-year", "many");
    const local = createToken<readonly number[]>("local");
    const seen: unknown[] = [];
    const task = new Task({
      description: "x",
      handler: {
        name: "t",
        description: "d",
        execute: (_input, { scope }) => void seen.push(scope.all(year)),
      },
    });
    const years = binds(
      "years",
      (b) =>
        void b
          .many(year)
          .toResolvedValue((clock: Clock) => clock.now().getUTCFullYear(), [Tokens.Clock])
          .inSingletonScope(),
    );
    const kernel = new Kernel({ plugins: [years, clockPlugin("clock", 2001)] });
    const ensemble = new Ensemble({ tasks: [task], kernel });
    await ensemble.run(
      {},
      {
        bindings: (b) => {
          b.single(Tokens.Clock).toConstantValue(clockAt(2099));
          b.single(local).toConstantValue([]);
        },
      },
    );
    await ensemble.run();
    expect(seen).to.deep.equal([[2001], [2001]]);
    await kernel.dispose();
  });

  it("take precedence over all others, with or without `override`", async () => {
    const kernel = new Kernel({ plugins: [clockPlugin("clock", 2001)] });
    const ids: IdGenerator = { next: () => "chosen" };
    const output = await new Ensemble({ tasks: [echo("x")], kernel }).run(
      {},
      {
        bindings: (b) => void b.single(Tokens.IdGenerator, { override: true }).toConstantValue(ids),
      },
    );
    expect(output.runId).to.equal("chosen");
    await kernel.dispose();
  });

  it("are refused if they bind twice, asynchronously, later, as a default, or with an unknown option", async () => {
    const ensemble = new Ensemble({ tasks: [echo("x")] });
    let late: (() => unknown) | undefined;
    const cases: readonly NonNullable<Parameters<Ensemble["run"]>[1]>["bindings"][] = [
      (b) =>
        void (
          b.single(Tokens.Clock).toConstantValue(clockAt(1)),
          b.single(Tokens.Clock).toConstantValue(clockAt(2))
        ),
      async () => Promise.resolve(),
      (b) => void b.single(Tokens.Clock, { default: true }).toConstantValue(clockAt(1)),
      (b) => void b.single(Tokens.Clock, { overide: true } as object).toConstantValue(clockAt(1)),
      (b) => void b.single(Tokens.Tool as never),
    ];
    for (const bindings of cases)
      expect(await failure(ensemble.run({}, { bindings }))).to.have.property(
        "code",
        "AE_VALIDATION",
      );
    await ensemble.run({}, { bindings: (b) => (late = () => b.single(Tokens.Clock)) });
    expect(() => late?.()).to.throw(ValidationError, "Clock");
    await ensemble.dispose();
  });
});

describe("booting", () => {
  it("refuses an asynchronous bind()", async () => {
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the very mistake
    const plugin = binds("late", async (): Promise<void> => Promise.reject(new Error("unseen")));
    const error = await failure(new Kernel({ plugins: [plugin] }).boot());
    expect(error).to.include({ code: "AE_PLUGIN", plugin: "late", hook: "bind" });
    expect(error.message).to.include("synchronous");
  });

  it("refuses an asynchronous apply()", async () => {
    const plugin = definePlugin({
      name: "late",
      apply: async (): Promise<void> => Promise.reject(new Error("unseen")),
    });
    expect(await failure(new Kernel({ plugins: [plugin] }).boot())).to.include({
      code: "AE_PLUGIN",
      plugin: "late",
      hook: "apply",
    });
  });

  it("names the owner of a value that can't be created", async () => {
    const throwing = binds(
      "throwing",
      (b) =>
        void b.single(Tokens.ChatModel).toDynamicValue((): ChatModel => {
          throw new Error("no key");
        }),
    );
    const error = (await failure(new Kernel({ plugins: [throwing] }).boot())) as PluginError;
    expect(error).to.include({ code: "AE_PLUGIN", plugin: "throwing" });
    expect(error.message).to.include("ChatModel").and.include("no key");
  });

  it("names the owner of an asynchronous value, and leaves no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const rejected = binds(
        "rejected",
        (b) =>
          void b
            .single(Tokens.ChatModel)
            .toDynamicValue(async () => {
              throw new Error("no key");
            })
            .inSingletonScope(),
      );
      expect(await failure(new Kernel({ plugins: [rejected] }).boot())).to.include({
        code: "AE_PLUGIN",
        plugin: "rejected",
      });
      await pause(10);
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("names the owner of a contribution that can't be created", async () => {
    const plugin = binds(
      "throwing",
      (b) =>
        void b.many(Tokens.Tool).toDynamicValue(() => {
          throw new Error("no tool");
        }),
    );
    const error = await failure(new Kernel({ plugins: [plugin] }).boot());
    expect(error).to.have.property("code", "AE_PLUGIN");
    expect(error.message).to.include("Tool").and.include("throwing").and.include("no tool");
  });

  it("closes bind() when it returns", async () => {
    let late: (() => unknown) | undefined;
    const plugin = binds("keeper", (b) => void (late = () => b.single(Tokens.Clock)));
    const kernel = new Kernel({ plugins: [plugin] });
    await kernel.boot();
    expect(() => late?.()).to.throw(ValidationError, "keeper");
    await kernel.dispose();
  });
});

describe("inversify of the user's own copy", () => {
  @injectable()
  class HouseModel extends ScriptedModel {
    constructor(@inject(Tokens.Clock) readonly clock: Clock) {
      super([`it is ${clock.now().getUTCFullYear()}`], { onExhausted: "repeat-last" });
    }
  }

  it("decorates classes that the kernel's container creates", async () => {
    const kernel = new Kernel({ plugins: [clockPlugin("clock", 2012)] });
    kernel.container.bind(Tokens.ChatModel).to(HouseModel).inSingletonScope();
    const output = await new Ensemble({ tasks: [Task.of("What year is it?")], kernel }).run();
    expect(output.raw).to.equal("it is 2012");
    await kernel.dispose();
  });

  it("creates modules that load like those of agentensemble/kernel", async () => {
    for (const Module of [UsersModule, ContainerModule]) {
      const kernel = new Kernel();
      const module: unknown = new Module(
        (o) => void o.bind(Tokens.Clock).toConstantValue(clockAt(2013)),
      );
      kernel.container.load(module as UsersModule);
      expect(await yearOf(kernel)).to.equal(2013);
    }
  });

  it("can't create a child of the kernel's container; the Container of agentensemble/kernel can", async () => {
    const kernel = new Kernel({ plugins: [clockPlugin("clock", 2014)] });
    await kernel.boot();
    expect(() => new UsersContainer({ parent: kernel.container }).get(Tokens.Clock)).to.throw();
    const child = new Container({ parent: kernel.container });
    expect(child.get(Tokens.Clock).now().getUTCFullYear()).to.equal(2014);
    await kernel.dispose();
  });

  it("is a different copy from the kernel's", () => {
    expect(new Kernel().container).to.be.instanceOf(Container).and.not.instanceOf(UsersContainer);
  });
});

describe("Tokens", () => {
  it("are the same symbols in every copy of the package", () => {
    expect(Tokens.Clock).to.equal(Symbol.for("agentensemble/Clock"));
    expect(createToken<string>("mine")).to.equal(Symbol.for("agentensemble/mine"));
  });

  it("cause a ValidationError on a look-up if unbound", async () => {
    const nothing = createToken<string>("nothing-here");
    const plugin = definePlugin({ name: "asks", start: (ctx) => void ctx.get(nothing) });
    const error = await rejection(new Kernel({ plugins: [plugin] }).boot());
    expect(AgentEnsembleError.isInstance(error)).to.equal(true);
    expect((error as Error).message).to.include("nothing-here");
  });
});
