import { expect } from "chai";
import { MANY_TOKENS, Tokens } from "../../src/contracts/tokens.js";
import { tokenName } from "../../src/contracts/token.js";
import { tableOf } from "../support/project.js";

describe("docs/tokens.md", () => {
  it("lists exactly the tokens of the framework, with their cardinality", () => {
    const many = new Set<unknown>(MANY_TOKENS);
    const declared = Object.entries(Tokens).map(
      ([name, token]) => `Tokens.${name}: ${many.has(token) ? "many" : "single"}`,
    );
    const documented = tableOf("docs/tokens.md", "token").map(
      ([name = "", cardinality = ""]) => `${name}: ${cardinality}`,
    );
    expect(documented.sort()).to.deep.equal(declared.sort());
  });
});

describe("Tokens", () => {
  it("names each token like its key", () => {
    for (const [key, token] of Object.entries(Tokens)) expect(tokenName(token)).to.equal(key);
  });
});
