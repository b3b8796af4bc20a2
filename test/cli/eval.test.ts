import { expect } from "chai";
import { ExitCode } from "../../src/cli/exit-codes.js";
import { ProjectFolder } from "./project-folder.js";

/** A file whose target returns a wrong output for every n-th case. */
const fileOf = (wrongEvery: number, more = ""): string => `
import { defineEvaluation, exact, scorer } from "agentensemble/evals";
console.log("printed by the file");
export default defineEvaluation({
  name: "numbers",
  target: (i) => (i % ${wrongEvery} === 0 ? -1 : i),
  dataset: Array.from({ length: 30 }, (_, i) => ({ input: i + 1, expected: i + 1, tags: [i % 2 ? "even" : "odd"] })),
  scorers: [exact()${more}],
});
`;

describe("the command eval", function () {
  this.timeout(60_000);
  const project = new ProjectFolder({
    "good.eval.mjs": fileOf(1000),
    "bad.eval.mjs": fileOf(2),
    "broken.eval.mjs": fileOf(1000, ', scorer("throws", () => { throw new Error("no luck"); })'),
    "other.eval.mjs": fileOf(1000).replace("length: 30", "length: 31"),
    "empty.eval.mjs": fileOf(1000).replace("length: 30", "length: 0"),
    "team.mjs": "export default 7;",
  });
  const run = (...args: readonly string[]): ReturnType<typeof project.start>["ended"] =>
    project.start(["eval", ...args]).ended;

  it("prints the scores, and writes all reports", async () => {
    const files = [
      "--out",
      "r.json",
      "--junit",
      "r.xml",
      "--markdown",
      "r.md",
      "--html",
      "new/r.html",
    ];
    const { code, stdout, stderr } = await run(
      "good.eval.mjs",
      "--fail-under",
      "exact=0.9",
      ...files,
    );
    expect(code, stderr).to.equal(ExitCode.OK);
    expect(stdout).to.match(/exact +30 +100\.0 %/);
    expect(stdout).to.not.contain("printed by the file");
    expect(stderr).to.contain("30 of 30 trials");
    for (const [file, part] of [
      ["r.json", '"agentensemble-evaluation"'],
      ["r.xml", "<testsuites"],
      ["r.md", "## Evaluation: numbers"],
      ["new/r.html", "<!doctype html>"],
    ] as const)
      expect(project.read(file)).to.contain(part);
  });

  it("refuses an unwritable report before it evaluates", async () => {
    const { code, stderr } = await run("good.eval.mjs", "--html", "team.mjs/r.html");
    expect(code).to.equal(ExitCode.USAGE);
    expect(stderr).to.match(/--html can't be written: the folder .*team\.mjs can't be written/);
    expect(stderr).to.not.contain("trials");
  });

  it("ends with 1 for a score below a threshold, and for a regression", async () => {
    const low = await run("bad.eval.mjs", "--fail-under", "exact=0.9", "-q", "--json");
    expect(low.code).to.equal(ExitCode.FAILED);
    expect(low.stderr).to.contain("exact is 0.5000, under 0.9");
    expect((JSON.parse(low.stdout) as { readonly name: string }).name).to.equal("numbers");
    const worse = await run("bad.eval.mjs", "--baseline", "r.json", "--fail-on-regression");
    expect(worse.code).to.equal(ExitCode.FAILED);
    expect(worse.stderr).to.contain("worse than the baseline");
  });

  it("compares unchanged cases with a baseline of another dataset if the option allows this", async () => {
    const other = ["other.eval.mjs", "--baseline", "r.json", "-q"];
    const { code, stdout } = await run(...other, "--allow-dataset-change");
    expect(code).to.equal(ExitCode.OK);
    expect(stdout).to.contain("1 added");
  });

  it("ends with 3 if scores failed", async () => {
    const { code, stdout } = await run("broken.eval.mjs", "--tag", "odd");
    expect(code).to.equal(ExitCode.INCOMPLETE);
    expect(stdout).to.contain("no luck").and.to.contain("15 of 30 cases");
  });

  const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["a baseline of another dataset", ["other.eval.mjs", "--baseline", "r.json"], /AE_BASELINE/],
    ["an empty dataset", ["empty.eval.mjs"], /AE_DATASET/],
    ["a file without an evaluation", ["team.mjs"], /must be an evaluation/],
    [
      "an invalid threshold",
      ["good.eval.mjs", "--fail-under", "exact=x"],
      /--fail-under must be a number/,
    ],
    ["an unknown scorer", ["good.eval.mjs", "--fail-under", "exat=1"], /Did you mean 'exact'/],
    [
      "a regression without a baseline",
      ["good.eval.mjs", "--fail-on-regression"],
      /needs --baseline/,
    ],
    [
      "an allowed change without a baseline",
      ["good.eval.mjs", "--allow-dataset-change"],
      /needs --baseline/,
    ],
  ];
  for (const [what, args, message] of refused)
    it(`ends with 2 for ${what}`, async () => {
      const { code, stderr } = await run(...args, "-q");
      expect(stderr).to.match(message);
      expect(code).to.equal(ExitCode.USAGE);
    });
});
