import { expect } from "chai";
import {
  isRefusedKey,
  mayHaveRefusedKey,
  parseWithoutRefusedKeys,
} from "../../../src/util/json/refused-keys.js";

describe("refused keys", () => {
  it("are those that can change a prototype", () => {
    expect(
      ["__proto__", "constructor", "prototype", "proto", "toString"].filter(isRefusedKey),
    ).to.deep.equal(["__proto__", "constructor", "prototype"]);
  });

  it("are suspected in a text that spells or escapes them", () => {
    expect(mayHaveRefusedKey('{"a":1}')).to.equal(false);
    expect(mayHaveRefusedKey('{"__proto__":1}')).to.equal(true);
    expect(mayHaveRefusedKey(String.raw`{"\u005f_proto__":1}`)).to.equal(true);
  });
});

describe("parseWithoutRefusedKeys", () => {
  it("parses other JSON, also if a value spells a refused key", () => {
    expect(parseWithoutRefusedKeys('{"a":["__proto__"]}')).to.deep.equal({ a: ["__proto__"] });
  });

  it("throws for a refused key, however it is written, and for what is not JSON", () => {
    for (const text of ['{"a":{"constructor":1}}', String.raw`{"\u0070rototype":1}`])
      expect(() => parseWithoutRefusedKeys(text)).to.throw(/^the key '\w+' is not allowed$/);
    expect(() => parseWithoutRefusedKeys("{")).to.throw(SyntaxError);
  });
});
