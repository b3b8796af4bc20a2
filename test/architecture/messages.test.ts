import { expect } from "chai";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, readProjectFile } from "../support/project.js";

/** Names of other frameworks and of unpublished documents. */
const FOREIGN: readonly RegExp[] = [
  /chatLanguageModel/i,
  /\b(?:Task|Agent|Ensemble|Loop|Phase|Graph)\.builder\b|\.builder\(\)|ensemble builder/i,
  /@Tool\b|-annotated/,
  /managerLlm/,
  /OnTimeoutAction/,
  /\bwaitTimeout\b/,
  /\.(?:workflow|context|handler|reviewHandler)\(\.\.\.\)|\b(?:task|loop|phase|graph)\(\) (?:and|with|on)\b/,
  /\bseeds? \d|\broadmap\b|configuration reference/i,
];

function foreignIn(text: string): readonly string[] {
  return FOREIGN.flatMap((name) => name.exec(text)?.[0] ?? []);
}

describe("messages and comments", () => {
  it("contain only names of this package", () => {
    const files = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" });
    const found = files
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        foreignIn(readProjectFile(`src/${file}`)).map((name) => `${file}: ${name}`),
      );
    expect(found).to.deep.equal([]);
  });

  for (const text of [
    "Provide a task-level chatLanguageModel.",
    "Use Task.builder().handler(...)",
    "has no @Tool-annotated methods",
    "Set managerLlm.",
    "(OnTimeoutAction.FAIL)",
    "Increase waitTimeout or wait.",
    "Cannot mix task() and phase()",
    "Options. Configuration reference (seed 002).",
  ])
    it(`are searched for names of other frameworks: ${text}`, () => {
      expect(foreignIn(text)).not.to.deep.equal([]);
    });
});
