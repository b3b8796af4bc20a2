import type { Clock } from "agentensemble";
import {
  createToken,
  definePlugin,
  Ensemble,
  Kernel,
  Tokens,
  ValidationError,
} from "agentensemble";
import { Container, ContainerModule, inject, injectable } from "agentensemble/kernel";
import { expect } from "chai";
import { runInThisContext } from "node:vm";
import ts from "typescript";
import { echo } from "../support/kernel-fixtures.js";

interface Almanac {
  readonly clock: Clock;
  readonly place: string;
}
type AlmanacClass = new (clock: Clock, place: string) => Almanac;

const Place = createToken<string>("test/place");
const Almanac = createToken<Almanac>("test/almanac");

/** The class `Made` of `code`, with decorators as they are without `experimentalDecorators`. */
function withStandardDecorators(code: string): AlmanacClass {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS };
  const { outputText } = ts.transpileModule(code, { compilerOptions });
  const run = runInThisContext(
    `(function (names) { const { inject, injectable, Tokens, Place } = names;\n${outputText}\nreturn Made; })`,
  ) as (names: object) => AlmanacClass;
  return run({ inject, injectable, Tokens, Place });
}

/** The object that a kernel creates from a bound class. */
async function made(type: AlmanacClass): Promise<Almanac> {
  const plugin = definePlugin({
    name: "almanac",
    bind: (bind) => {
      bind.single(Place).toConstantValue("Kiel");
      bind.single(Almanac).to(type);
    },
  });
  const kernel = new Kernel({ plugins: [plugin] });
  await kernel.boot();
  const almanac = kernel.container.get(Almanac);
  expect(almanac.clock).to.equal(kernel.container.get(Tokens.Clock));
  await kernel.dispose();
  return almanac;
}

class Plain implements Almanac {
  static readonly inject = [Tokens.Clock, Place];
  constructor(
    readonly clock: Clock,
    readonly place: string,
  ) {}
}

describe("a class that the kernel's container creates", () => {
  it("may name its dependencies in static inject, without any decorator", async () => {
    expect(await made(Plain))
      .to.have.property("place", "Kiel")
      .and.to.be.a("string");
  });

  it("may name them in @injectable, or with @inject on parameters, with experimental decorators", async () => {
    @injectable(Tokens.Clock, Place)
    class Listed implements Almanac {
      constructor(
        readonly clock: Clock,
        readonly place: string,
      ) {}
    }
    @injectable()
    class Marked implements Almanac {
      constructor(
        @inject(Tokens.Clock) readonly clock: Clock,
        @inject(Place) readonly place: string,
      ) {}
    }
    @injectable()
    class Declared extends Plain {
      static override readonly inject = [Tokens.Clock, Place];
      constructor(clock: Clock, place: string) {
        super(clock, `${place}!`);
      }
    }
    for (const type of [Listed, Marked]) expect((await made(type)).place).to.equal("Kiel");
    expect((await made(Declared)).place).to.equal("Kiel!");
  });

  it("may name them in @injectable or static inject, with standard decorators", async () => {
    const listed = withStandardDecorators(
      "@injectable(Tokens.Clock, Place) class Made { constructor(clock, place) { this.clock = clock; this.place = place; } }",
    );
    const declared = withStandardDecorators(
      "@injectable() class Made { static inject = [Tokens.Clock, Place]; constructor(clock, place) { this.clock = clock; this.place = place; } }",
    );
    for (const type of [listed, declared]) expect((await made(type)).place).to.equal("Kiel");
  });

  it("refuses @inject at fields and accessors of standard decorators", () => {
    for (const member of ["@inject(Place) place;", "@inject(Place) accessor place;"])
      expect(() => withStandardDecorators(`class Made { ${member} }`)).to.throw(
        ValidationError,
        "experimentalDecorators",
      );
  });

  it("refuses a value that is not a token", () => {
    expect(() => injectable("Clock" as never)(class Made {})).to.throw(
      ValidationError,
      "Dependency 1 of class 'Made' must be a token, got: Clock",
    );
    const kernel = new Kernel();
    class Wrong {
      static readonly inject = [Place, 5];
      constructor(readonly place: string) {}
    }
    expect(() => kernel.container.bind(Wrong).toSelf()).to.throw(ValidationError, "Dependency 2");
  });

  it("is resolved by every binding: of the container, of a child, of a module and of a run", async () => {
    const kernel = new Kernel();
    kernel.container.bind(Place).toConstantValue("Kiel");
    kernel.container.bind(Plain).toSelf();
    const child = new Container({ parent: kernel.container });
    child.bind(Almanac).to(class Other extends Plain {});
    kernel.container.load(new ContainerModule(({ bind }) => void bind("module").to(Plain)));
    const seen: unknown[] = [];
    await new Ensemble({
      kernel,
      tasks: [echo("x")],
      plugins: [
        definePlugin({
          name: "reader",
          apply: ({ hooks }) =>
            hooks.beforeRun.tap(({ run }) => void seen.push(run.get(Almanac).place)),
        }),
      ],
    }).run({}, { bindings: (bind) => void bind.single(Almanac).to(Plain) });
    expect(seen).to.deep.equal(["Kiel"]);
    expect(kernel.container.get(Plain).place).to.equal("Kiel");
    expect(child.get(Almanac).place).to.equal("Kiel");
    expect(kernel.container.get<Plain>("module").place).to.equal("Kiel");
    await kernel.dispose();
  });
});
