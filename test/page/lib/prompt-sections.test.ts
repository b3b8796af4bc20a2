import { expect } from "chai";
import { promptSections } from "../../../page/src/lib/prompt-sections.js";

describe("sections of a prompt", () => {
  it("begin at the headings of the framework's templates", () => {
    const prompt =
      "## Memory: team\n- one\n## Revision Instructions (Attempt 2)\nAgain.\n## Task\nWrite.\n\n## Expected Output\nA text.\n";
    expect(promptSections(prompt)).to.deep.equal([
      { title: "memory · team", template: "memory.scope", text: "- one" },
      { title: "revision · (Attempt 2)", template: "task.revision", text: "Again." },
      { title: "task", template: "task.description", text: "Write." },
      { title: "expected output", template: "task.description", text: "A text." },
    ]);
  });

  it("keep headings in the outputs of other tasks in their position", () => {
    const prompt = "## Context from Previous Tasks\n---\n## Task\nan output\n---\n## Task\nWrite.";
    const sections = promptSections(prompt);
    expect(sections.map(({ title }) => title)).to.deep.equal(["context", "task"]);
    expect(sections[0]?.text).to.include("## Task\nan output");
  });

  it("form a single section for a prompt of other templates", () => {
    expect(promptSections("## Aufgabe\nSchreibe.")).to.deep.equal([
      { title: "prompt", template: undefined, text: "## Aufgabe\nSchreibe." },
    ]);
    expect(promptSections("")).to.deep.equal([]);
  });
});
