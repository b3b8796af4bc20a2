import { expect } from "chai";
import fc from "fast-check";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { PromptLibrary } from "../../../../src/plugins/shared/prompts/prompt-library.js";

const DEFAULTS = Object.freeze({ greeting: "Hello {name}!", parting: "Bye {name}." });

describe("PromptLibrary", () => {
  it("gives the defaults where nothing was contributed", () => {
    expect(new PromptLibrary(DEFAULTS).textsOf([]).render("greeting", { name: "Ada" })).to.equal(
      "Hello Ada!",
    );
  });

  it("lets the later of two contributions win", () => {
    const texts = new PromptLibrary(DEFAULTS).textsOf([{ greeting: "One" }, { greeting: "Two" }]);
    expect(texts.render("greeting", {})).to.equal("Two");
    expect(texts.render("parting", { name: "Ada" })).to.equal("Bye Ada.");
  });

  it("keeps an override that was contributed before the defaults", () => {
    expect(
      new PromptLibrary(DEFAULTS).textsOf([{ greeting: "Mine" }, DEFAULTS]).render("greeting", {}),
    ).to.equal("Mine");
  });

  it("merges a list once", () => {
    const library = new PromptLibrary(DEFAULTS);
    const list = [{ greeting: "Hi" }];
    expect(library.textsOf(list))
      .to.equal(library.textsOf(list))
      .and.not.equal(library.textsOf([...list]));
  });

  it("calls a template that is a function with the values", () => {
    const texts = new PromptLibrary(DEFAULTS).textsOf([
      { greeting: ({ name }: Readonly<Record<string, unknown>>) => `{name} is ${String(name)}` },
    ]);
    expect(texts.render("greeting", { name: "Ada" })).to.equal("{name} is Ada");
  });

  it("refuses a function that gives no text, or throws, and names the template", () => {
    const library = new PromptLibrary(DEFAULTS);
    const broken = (): string => {
      throw new Error("boom");
    };
    const silent = (() => undefined) as unknown as () => string; // as a JavaScript user may write it
    expect(() => library.textsOf([{ greeting: broken }]).render("greeting", {})).to.throw(
      ValidationError,
      /'greeting' threw: boom/,
    );
    expect(() => library.textsOf([{ greeting: silent }]).render("greeting", {})).to.throw(
      ValidationError,
      /'greeting' must return a string/,
    );
  });

  it("keeps escaped and unknown placeholders as text", () => {
    const texts = new PromptLibrary({ sample: '{{name}} {unknown} {a-b} {"x":{name}}' }).textsOf(
      [],
    );
    expect(texts.render("sample", { name: "Ada" })).to.equal('{name} {unknown} {a-b} {"x":Ada}');
  });

  it("never looks into values with any content", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        const texts = new PromptLibrary({ sample: "<{name}|{other}|{name}>" }).textsOf([]);
        expect(texts.render("sample", { name: `${name}{other}$&`, other })).to.equal(
          `<${name}{other}$&|${other}|${name}{other}$&>`,
        );
      }),
    );
  });
});
