import { expect } from "chai";
import fc from "fast-check";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { PromptLibrary } from "../../../../src/plugins/shared/prompts/prompt-library.js";
import { fakeRun } from "../../../support/fake-scope.js";
import { StagedHookRun } from "../../../../src/plugins/testing/staged-hook-run.js";

const DEFAULTS = Object.freeze({ greeting: "Hello {name}!", parting: "Bye {name}." });

describe("PromptLibrary", () => {
  it("returns the defaults without contributions", () => {
    expect(
      new PromptLibrary(DEFAULTS).textsOf([], fakeRun).render("greeting", { name: "Ada" }),
    ).to.equal("Hello Ada!");
  });

  it("uses the later of two contributions", () => {
    const texts = new PromptLibrary(DEFAULTS).textsOf(
      [{ greeting: "One" }, { greeting: "Two" }],
      fakeRun,
    );
    expect(texts.render("greeting", {})).to.equal("Two");
    expect(texts.render("parting", { name: "Ada" })).to.equal("Bye Ada.");
  });

  it("keeps an override that was contributed before the defaults", () => {
    expect(
      new PromptLibrary(DEFAULTS)
        .textsOf([{ greeting: "Mine" }, DEFAULTS], fakeRun)
        .render("greeting", {}),
    ).to.equal("Mine");
  });

  it("merges a list once", () => {
    const library = new PromptLibrary(DEFAULTS);
    const list = [{ greeting: "Hi" }];
    expect(library.textsOf(list, fakeRun))
      .to.equal(library.textsOf(list, fakeRun))
      .and.not.equal(library.textsOf([...list], fakeRun));
  });

  it("calls a template function with the values and the run", () => {
    const library = new PromptLibrary(DEFAULTS);
    const list = [
      {
        greeting: ({ name }: Readonly<Record<string, unknown>>, { id }: { readonly id: string }) =>
          `{name} is ${String(name)}${id === "run-1" ? "" : ` in ${id}`}`,
      },
    ];
    const texts = library.textsOf(list, fakeRun);
    const other = library.textsOf(list, new StagedHookRun("run-2"));
    expect(other.render("greeting", { name: "Ada" })).to.equal("{name} is Ada in run-2");
    expect(texts.render("greeting", { name: "Ada" })).to.equal("{name} is Ada");
  });

  it("refuses a function that returns no text, or throws, and names the template", () => {
    const library = new PromptLibrary(DEFAULTS);
    const broken = (): string => {
      throw new Error("boom");
    };
    const silent = (() => undefined) as unknown as () => string; // as a JavaScript user may write it
    expect(() => library.textsOf([{ greeting: broken }], fakeRun).render("greeting", {})).to.throw(
      ValidationError,
      /'greeting' threw: boom/,
    );
    expect(() => library.textsOf([{ greeting: silent }], fakeRun).render("greeting", {})).to.throw(
      ValidationError,
      /'greeting' must return a string/,
    );
  });

  it("keeps escaped and unknown placeholders as text", () => {
    const texts = new PromptLibrary({ sample: '{{name}} {unknown} {a-b} {"x":{name}}' }).textsOf(
      [],
      fakeRun,
    );
    expect(texts.render("sample", { name: "Ada" })).to.equal('{name} {unknown} {a-b} {"x":Ada}');
  });

  it("does not process placeholders within values", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        const texts = new PromptLibrary({ sample: "<{name}|{other}|{name}>" }).textsOf([], fakeRun);
        expect(texts.render("sample", { name: `${name}{other}$&`, other })).to.equal(
          `<${name}{other}$&|${other}|${name}{other}$&>`,
        );
      }),
    );
  });
});
