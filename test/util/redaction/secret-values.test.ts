import { expect } from "chai";
import fc from "fast-check";
import {
  isSecretName,
  secretReplacer,
  secretValues,
  secretWords,
} from "../../../src/util/redaction/secret-values.js";

describe("names of secrets", () => {
  it("are matched broadly", () => {
    for (const name of ["Authorization", "x-api-key", "SESSION_ID", "cookie", "DB_PASSWORD"])
      expect(isSecretName(name), name).to.equal(true);
    for (const name of ["accept", "PATH", "user-agent"])
      expect(isSecretName(name), name).to.equal(false);
  });

  it("select the values of fields", () => {
    expect(secretValues({ accept: "json", "x-api-key": " abcd " })).to.deep.equal(["abcd"]);
  });
});

describe("secretWords", () => {
  it("returns a header's value and its words after the scheme", () => {
    expect(secretWords(" Bearer  abc def ")).to.deep.equal(["Bearer  abc def", "abc", "def"]);
    expect(secretWords("abc")).to.deep.equal(["abc"]);
  });
});

describe("secretReplacer", () => {
  it("replaces a plain secret, in a URL and in JSON, the longest spelling first", () => {
    const replace = secretReplacer(['a b"c', 'a b"c-long']);
    expect(replace('x a b"c-long y')).to.equal("x [redacted] y");
    expect(replace(`?q=${encodeURIComponent('a b"c')}`)).to.equal("?q=[redacted]");
    expect(replace(JSON.stringify({ k: 'a b"c' }))).to.equal('{"k":"[redacted]"}');
  });

  it("keeps values that are too short to be secrets", () => {
    expect(secretReplacer(["abc", "abcd"])("abc abcd")).to.equal("abc [redacted]");
    expect(secretReplacer(["abcdefg", "abcdefgh"], 8)("abcdefg abcdefgh")).to.equal(
      "abcdefg [redacted]",
    );
  });

  it("accepts any text as a secret", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 4 }), (secret) => {
        expect(secretReplacer([secret])(`<${secret}>`)).to.equal("<[redacted]>");
      }),
    );
    expect(secretReplacer(["\ud800abc"])("x \ud800abc")).to.equal("x [redacted]");
  });
});
