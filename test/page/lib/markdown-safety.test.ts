import { expect } from "chai";
import { safeAddress, tamed } from "../../../page/src/lib/markdown-safety.js";

describe("Markdown of models", () => {
  it("can link to web pages and mail addresses only", () => {
    expect(safeAddress("https://example.org/a?b#c")).to.equal("https://example.org/a?b#c");
    expect(safeAddress("mailto:a@example.org")).to.equal("mailto:a@example.org");
    for (const href of [
      "javascript:alert(1)",
      " JaVaScRiPt:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "vbscript:x",
      "/api/runs",
      "#/runs",
      "",
      "http://",
    ])
      expect(safeAddress(href), href).to.equal(undefined);
  });

  it("is flattened beyond a limit of nesting, without losing text", () => {
    const usual = "> > quoted\n- a\n  - b\n    - c\n\n***bold*** `code` ---";
    expect(tamed(usual)).to.equal(usual);
    expect(tamed(`${">".repeat(50_000)} deep`).length).to.be.below(100);
    expect(tamed(`${"- ".repeat(50_000)}deep`).length).to.be.below(100);
    expect(tamed(`${"> 1. ".repeat(50_000)}deep`).length).to.be.below(100);
    expect(tamed("[".repeat(50_000)).length).to.be.below(200);
  });
});
