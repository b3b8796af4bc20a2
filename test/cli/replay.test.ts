import { expect } from "chai";
import { ProjectFolder } from "./project-folder.js";

/** Its model answers with a new number in every process: only a replay repeats an answer. */
const TEAM = `import { Ensemble, Task } from "agentensemble";
import { appendFileSync } from "node:fs";
const model = { provider: "loaded", modelId: "dice", capabilities: {}, async chat() {
  appendFileSync("calls.txt", "x");
  return { message: { role: "assistant", content: "rolled " + process.hrtime.bigint() }, finishReason: "stop", usage: {}, modelId: "dice" };
} };
export default new Ensemble({ model, tasks: [Task.of("Roll for {player}")] });`;

describe("agentensemble replay", () => {
  let project: ProjectFolder;
  let recorded: string;

  before(async () => {
    project = new ProjectFolder({
      "team.mjs": TEAM,
      "own.mjs": TEAM.replace("tasks:", 'plugins: [recordTo("own.jsonl")], tasks:').replace(
        "import",
        'import { recordTo } from "agentensemble/replay";\nimport',
      ),
      "booted.mjs": `import team from "./team.mjs";\nawait team.explain({ player: "A" });\nexport default team;`,
    });
    const { code, stdout, stderr } = await project.run([
      "run",
      "team.mjs",
      "-q",
      "--input",
      "player=A",
      "--record",
      "roll.jsonl",
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    recorded = stdout;
  });

  it("repeats a recorded run without calling the model", async () => {
    const { code, stdout } = await project.run([
      "replay",
      "roll.jsonl",
      "team.mjs",
      "-q",
      "--input",
      "player=A",
    ]);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: recorded });
    expect(project.read("calls.txt")).to.equal("x");
  });

  it("ends with 1 at a request that was not recorded", async () => {
    const { code, stderr } = await project.run([
      "replay",
      "roll.jsonl",
      "team.mjs",
      "-q",
      "--input",
      "player=B",
    ]);
    expect(code).to.equal(1);
    expect(stderr).to.include("Roll for A").and.include("Roll for B");
  });

  it("calls the model for an unrecorded request with --on-miss live", async () => {
    const { code, stdout } = await project.run([
      "replay",
      "roll.jsonl",
      "team.mjs",
      "-q",
      "--input",
      "player=B",
      "--on-miss",
      "live",
    ]);
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^rolled \d+\n$/)
      .and.not.equal(recorded);
  });

  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      "a missing recording",
      ["replay", "nowhere.jsonl", "team.mjs"],
      /Can't read the recording nowhere\.jsonl[^]*--record/,
    ],
    [
      "a file that is not a recording",
      ["replay", "team.mjs", "team.mjs", "--input", "player=A"],
      /error AE_FILE_FORMAT: \S*team\.mjs:1 /,
    ],
    [
      "an unknown --on-miss",
      ["replay", "roll.jsonl", "team.mjs", "--on-miss", "lie"],
      /onMiss must be one of "fail", "live"/,
    ],
    [
      "an ensemble with its own recorder",
      ["run", "own.mjs", "--record", "x.jsonl"],
      /'record-to' is already there[^]*hint: If the ensemble already has/,
    ],
    [
      "an ensemble that has begun already",
      ["replay", "roll.jsonl", "booted.mjs"],
      /can't be added/,
    ],
    [
      "a recording that can't be written",
      ["run", "team.mjs", "--record", "team.mjs/x.jsonl"],
      /error AE_VALIDATION: The recording[^]*team\.mjs' is not a folder/,
    ],
  ];
  for (const [what, args, message] of cases) {
    it(`ends with exit code 2 and advice: ${what}`, async () => {
      const { code, stdout, stderr } = await project.run(args);
      expect(stderr)
        .to.match(message)
        .and.not.match(/^\s+at /m);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: "" });
    });
  }
});
