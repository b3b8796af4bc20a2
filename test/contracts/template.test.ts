import { PromptTemplateError, ValidationError } from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import { fillTemplate } from "../../src/contracts/template.js";

const fill = (template: string, inputs: Readonly<Record<string, unknown>> = {}): string => {
  const missing = new Set<string>();
  const text = fillTemplate(template, inputs, missing);
  if (missing.size > 0) throw new PromptTemplateError([...missing], template);
  return text;
};

const missingOf = (
  template: string,
  inputs: Readonly<Record<string, unknown>> = {},
): readonly string[] => {
  const missing = new Set<string>();
  fillTemplate(template, inputs, missing);
  return [...missing];
};

/** A piece of a template next to its meaning. */
type Piece = { readonly kind: "text" | "escaped" | "variable"; readonly text: string };

const name = fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/);
/** Text that contains braces, but never a variable together with its neighbours. */
const literal = fc.string({
  unit: fc.constantFrom("a", " ", "-", "$", "&", "\n", "ä", "\\", "$1", "$&"),
  maxLength: 8,
});
const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), text: literal }),
  fc.record({ kind: fc.constant("escaped" as const), text: name }),
  fc.record({ kind: fc.constant("variable" as const), text: name }),
);
const written = ({ kind, text }: Piece): string =>
  kind === "text" ? text : kind === "escaped" ? `{{${text}}}` : `{${text}}`;
/** Values that look like variables, escapes and replacement patterns. */
const value = fc.oneof(
  fc.constantFrom("{a}", "{{a}}", "{", "}", "$&", "$1", "$$", "\\", "{b}{c}"),
  fc.string(),
);

describe("the template resolver", () => {
  it("replaces variables, unescapes escapes and keeps other text unchanged", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), value, (pieces, filled) => {
        const inputs = Object.fromEntries(
          pieces.filter(({ kind }) => kind === "variable").map(({ text }) => [text, filled]),
        );
        const expected = pieces
          .map((p) => (p.kind === "text" ? p.text : p.kind === "escaped" ? `{${p.text}}` : filled))
          .join("");
        expect(fill(pieces.map(written).join(""), inputs)).to.equal(expected);
      }),
    );
  });

  it("never fills an inserted value: an input can't contain a placeholder", () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(fill("{a}|{b}", { a, b })).to.equal(`${a}|${b}`);
      }),
    );
  });

  it("names all missing variables once, in the order of appearance", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.func(fc.boolean()), (pieces, isGiven) => {
        const names = [
          ...new Set(pieces.filter(({ kind }) => kind === "variable").map(({ text }) => text)),
        ];
        const inputs = Object.fromEntries(names.filter((n) => isGiven(n)).map((n) => [n, "x"]));
        expect(missingOf(pieces.map(written).join(""), inputs)).to.deep.equal(
          names.filter((n) => !isGiven(n)),
        );
      }),
    );
  });

  it("accepts any text, and returns a text without variables unchanged", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("{", "}", "a", " ", "_", "-"), maxLength: 30 }),
        (text) => {
          const filled = fillTemplate(text, { a: "{a}" }, new Set());
          if (!/\{\w+\}/.test(text)) expect(filled).to.equal(text);
        },
      ),
    );
  });

  it("processes the text of a million braces in one pass", () => {
    const text = "{".repeat(1_000_000);
    expect(fill(text)).to.equal(text);
  });

  it("writes null as an empty text, objects as JSON and other values as text", () => {
    expect(fill("{a}|{b}|{c}|{d}|{e}", { a: null, b: { x: [1] }, c: 5, d: false, e: "" })).to.equal(
      '|{"x":[1]}|5|false|',
    );
    expect(missingOf("{a}", { a: undefined })).to.deep.equal(["a"]);
  });

  it("refuses an input that JSON can't represent, and names it", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(() => fill("{a}", { a: circle })).to.throw(ValidationError, "'a'");
    expect(() => fill("{b}", { b: { n: 1n } })).to.throw(ValidationError, "'b'");
  });

  it("reads no inherited properties", () => {
    expect(missingOf("{toString} {constructor} {__proto__}")).to.deep.equal([
      "toString",
      "constructor",
      "__proto__",
    ]);
  });

  it("leaves texts unchanged that only resemble a variable", () => {
    for (const text of ["{a b}", "{a-b}", "{}", "{ä}", "{", "}", "{{}}", "{{a b}}"])
      expect(fill(text)).to.equal(text);
    expect(fill("{{a}} {a}", { a: 1 })).to.equal("{a} 1");
    expect(fill("{{{a}}}", { a: 1 })).to.equal("{{a}}");
  });
});
