import { expect } from "chai";
import { readProjectFile, typeScriptFiles } from "../support/project.js";

const sources = typeScriptFiles("src").map((path) => ({ path, text: readProjectFile(path) }));

/** Paths of the sources in which `pattern` occurs outside comments. */
function where(pattern: RegExp): readonly string[] {
  return sources
    .filter(({ text }) => pattern.test(text.replace(/\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm, "")))
    .map(({ path }) => path);
}

describe("the sources", () => {
  it("have no file above 400 lines", () => {
    expect(
      sources.filter(({ text }) => text.split("\n").length > 401).map(({ path }) => path),
    ).to.deep.equal([]);
  });

  it("ask for time, chance and ids in one file only", () => {
    expect(where(/\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\b/)).to.deep.equal([
      "src/kernel/defaults.ts",
    ]);
  });

  it("list what they export by name", () => {
    expect(where(/^export \*/m)).to.deep.equal([]);
  });

  it("bear names in kebab-case", () => {
    expect(
      sources
        .map(({ path }) => path)
        .filter(
          (path) => !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(path),
        ),
    ).to.deep.equal([]);
  });
});
