import { expect } from "chai";
import fc from "fast-check";
import { ToolConfigurationError } from "../../../../src/contracts/errors.js";
import { toolName, toolNames } from "../../../../src/plugins/mcp/client/tool-names.js";

describe("names of MCP tools", () => {
  it("are accepted by all vendors of models, for any names of a server", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.string({ unit: "binary", minLength: 1, maxLength: 200 }),
        (prefix, name) => {
          expect(toolName(prefix, name)).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
        },
      ),
    );
  });

  it("stay unchanged if they fit", () => {
    expect([...toolNames("s", "git__", ["log", "show-diff"])]).to.deep.equal([
      ["log", "git__log"],
      ["show-diff", "git__show-diff"],
    ]);
  });

  it("are refused if two names become equal", () => {
    for (const names of [
      ["a.b", "a b"],
      ["x".repeat(70), "x".repeat(71)],
      ["a", "a"],
    ]) {
      expect(() => toolNames("s", "", names)).to.throw(ToolConfigurationError);
    }
  });
});
