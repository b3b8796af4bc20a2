import { expect } from "chai";
import { promptSources } from "../../../../src/plugins/providers/offline/prompt-sources.js";

const HEADING = "## Context from Previous Tasks\n";

function sources(content: unknown): readonly unknown[] {
  return promptSources([{ role: "user", content } as never]);
}

describe("the sources in a prompt", () => {
  it("are the outputs of earlier tasks, also without a description", () => {
    const found = [{ label: "Find", text: "Facts" }];
    expect(
      sources(`${HEADING}\n---\n### Writer: Find\nFacts\n---\n\n## Task\nWrite`),
    ).to.deep.equal(found);
    expect(sources(`Before\n${HEADING}\n---\n### Writer: Find\nFacts`)).to.deep.equal(found);
    expect(sources(`${HEADING}\n---\n### Writer: Find\nFacts\n---`)).to.deep.equal(found);
    expect(sources(`${HEADING}\n---\n### : \nFacts`)).to.deep.equal([
      { label: undefined, text: "Facts" },
    ]);
    expect(sources(`${HEADING}\n---\n### Writer: nothing`)).to.deep.equal([]);
    expect(sources(`${HEADING}none`)).to.deep.equal([]);
  });

  it("are else texts between rules or in fences, in all text parts of a message", () => {
    const fenced = [{ label: undefined, text: "a" }];
    expect(sources("```\na\n```")).to.deep.equal(fenced);
    expect(sources("---\na\n---\n~~~\nopen")).to.deep.equal(fenced);
    const parts = [
      { type: "text", text: "---\na" },
      { type: "image" },
      { type: "text", text: "---" },
    ];
    expect(sources(parts)).to.deep.equal(fenced);
    expect(sources("nothing")).to.deep.equal([]);
  });
});
