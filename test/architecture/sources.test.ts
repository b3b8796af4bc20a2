import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { projectRoot, readProjectFile, typeScriptFiles } from "../support/project.js";

interface LintConfig {
  readonly default: readonly {
    readonly files?: readonly string[];
    readonly rules?: Readonly<Record<string, unknown>>;
  }[];
}

const sources = typeScriptFiles("src").map((path) => ({ path, text: readProjectFile(path) }));

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm, "");

/** The text of a file without its exports from other files. */
const beyondExports = (text: string): string =>
  withoutComments(text)
    .replace(/export (?:type )?(?:\*|\{[^}]*\}) from "[^"]+";/g, "")
    .trim();

/** Paths of the sources in which `pattern` occurs outside comments. */
function where(pattern: RegExp): readonly string[] {
  return sources.filter(({ text }) => pattern.test(withoutComments(text))).map(({ path }) => path);
}

describe("the sources", () => {
  it("have no file above 400 lines", () => {
    expect(
      sources.filter(({ text }) => text.split("\n").length > 401).map(({ path }) => path),
    ).to.deep.equal([]);
  });

  it("all meet the linter's size limits", async () => {
    const { default: configs } = (await import(
      pathToFileURL(join(projectRoot, "eslint.config.js")).href
    )) as LintConfig; // a script has no declarations
    for (const limit of ["complexity", "max-lines", "max-lines-per-function", "max-params"])
      expect(
        configs.filter(({ rules }) => limit in (rules ?? {})).map(({ files }) => files),
        limit,
      ).to.deep.equal([["src/**/*.ts", "page/**/*.ts", "page/**/*.tsx"]]);
    const excused = /eslint-disable\S* .*\b(?:complexity|max-(?:lines|params))\b/;
    expect(sources.filter(({ text }) => excused.test(text))).to.deep.equal([]);
    expect("// eslint-disable-next-line eqeqeq, max-lines-per-function").to.match(excused);
  });

  it("keep the kernel within 1,300 lines, and kernel and engine within 5,700", () => {
    const linesIn = (folder: string): number =>
      sources
        .filter(({ path }) => path.startsWith(folder))
        .reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
    const kernel = linesIn("src/kernel/");
    expect(kernel).to.be.above(0).and.at.most(1_300);
    expect(kernel + linesIn("src/engine/"))
      .to.be.above(kernel)
      .and.at.most(5_700);
  });

  it("have no comment line above 100 characters in kernel and engine", () => {
    const tooLong = /^(?=.{101}) *(?:\/?\*|\/\/|.* \/\/ )/m;
    const inner = sources.filter(({ path }) => /^src\/(?:kernel|engine)\//.test(path));
    expect(inner).not.to.deep.equal([]);
    expect(inner.filter(({ text }) => tooLong.test(text)).map(({ path }) => path)).to.deep.equal(
      [],
    );
    for (const start of ["/** ", "   * ", "// ", "run(); // "])
      expect(`\n${start}${"a".repeat(101 - start.length)}\n`).to.match(tooLong);
  });

  it("read time, random numbers and ids in one file only", () => {
    expect(where(/\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\b/)).to.deep.equal([
      "src/util/runtime.ts",
    ]);
  });

  it("list their exports by name", () => {
    expect(where(/^export \*/m)).to.deep.equal(["src/index.ts"]); // the contracts, for users
  });

  it("fire hooks in one file, which only takeStep() imports", () => {
    expect(where(/\.fire\(/)).to.deep.equal(["src/kernel/hooks/lanes.ts"]);
    expect(where(/\bfire(?:Before|After)\(/)).to.deep.equal([
      "src/kernel/hooks/lanes.ts",
      "src/kernel/hooks/step.ts",
    ]);
    expect(where(/\btakeStep\(/)).to.deep.equal([
      "src/engine/gateways/chat.ts",
      "src/engine/gateways/delegation.ts",
      "src/engine/gateways/memory.ts",
      "src/engine/gateways/tool.ts",
      "src/engine/run/run-step.ts",
      "src/engine/tasks/run-task.ts",
    ]);
  });

  it("cite no documents that are not published", () => {
    const cited = /\b(?:seeds? \d{3}|roadmap phase|issue #?\d|design document)/i;
    expect(sources.filter(({ text }) => cited.test(text)).map(({ path }) => path)).to.deep.equal(
      [],
    );
    expect("/** Options of an agent. Seed 003. */").to.match(cited);
  });

  it("have only exports in the files of their root", () => {
    const doors = sources.filter(({ path }) => /^src\/[^/]+$/.test(path));
    expect(doors.map(({ path }) => path)).to.include.members(["src/index.ts", "src/testing.ts"]);
    for (const { path, text } of doors) expect(beyondExports(text), path).to.equal("");
    const breach = '/** A door. */\nexport { a } from "./a.js";\nexport const b = 1; // here';
    expect(beyondExports(breach)).to.equal("export const b = 1;");
  });

  it("have names in kebab-case", () => {
    expect(
      sources
        .map(({ path }) => path)
        .filter(
          (path) => !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(path),
        ),
    ).to.deep.equal([]);
  });
});
