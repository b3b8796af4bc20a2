import { expect } from "chai";
import type { Token } from "marked";
import { markdownTokens } from "../../../page/src/lib/markdown-tokens.js";

interface Nested {
  readonly tokens?: readonly Nested[];
  readonly items?: readonly Nested[];
}

/** How deep tokens are nested. */
function depthOf({ tokens = [], items = [] }: Nested): number {
  return 1 + Math.max(0, ...[...tokens, ...items].map(depthOf));
}

const nested = (tokens: readonly Token[] | undefined): number =>
  depthOf({ tokens: (tokens ?? []) as readonly Nested[] }); // every token may hold others

describe("tokens of Markdown", () => {
  it("match the usual notations", () => {
    const tokens = markdownTokens("# Title\n\n1. **a** [b](https://c.example)\n   - d\n\n> e");
    expect(tokens?.map(({ type }) => type)).to.deep.equal([
      "heading",
      "space",
      "list",
      "space",
      "blockquote",
    ]);
  });

  it("are nested to a limit, in lines of quotes and lists and in emphasis", () => {
    for (const text of [
      "> - ".repeat(20_000),
      "1. > ".repeat(10_000),
      "*a **b ".repeat(500) + "b** a* ".repeat(500),
      "~a ~~b ".repeat(500) + "b~~ a~ ".repeat(500),
      Array.from({ length: 200 }, (_, i) => `${"  ".repeat(i)}- a`).join("\n"),
    ])
      expect(nested(markdownTokens(text)), text.slice(0, 10)).to.be.within(5, 90);
  });

  it("are not created for texts that take long to parse: these are shown unchanged", () => {
    expect(markdownTokens("a".repeat(100_001))).to.equal(undefined);
    expect(markdownTokens(`- ${"a\n".repeat(3_000)}`)).to.equal(undefined);
    expect(markdownTokens("a\n".repeat(2_999))).to.have.lengthOf(1);
  });
});
