import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { examine, OPTIONAL_PACKAGES } from "../../src/cli/doctor-command.js";
import { ExitCode } from "../../src/cli/exit-codes.js";
import { projectRoot, readProjectFile, tableOf } from "../support/project.js";
import { ProjectFolder } from "./project-folder.js";

const TEAM = `import { Ensemble, Task } from "agentensemble";
const model = { provider: "none", modelId: "never", capabilities: {}, chat: () => { throw new Error("called"); } };
const facts = new Task({ name: "facts", description: "Collect facts on {topic}" });
export default new Ensemble({ model, tasks: [facts, new Task({ name: "text", description: "Write about {topic}", context: [facts] })] });`;

describe("the commands that run nothing", () => {
  let project: ProjectFolder;

  before(() => {
    project = new ProjectFolder({ "team.mjs": TEAM });
  });

  it("explain shows the prompts and the estimates", async () => {
    const { code, stdout } = await project.run(["explain", "team.mjs", "--input", "topic=otters"]);
    expect(code).to.equal(0);
    expect(stdout)
      .to.include("PARALLEL, 2 tasks")
      .and.include("Write about otters")
      .and.include("[output of facts]")
      .and.include("after: facts");
    expect(stdout).to.match(/First calls: about \d+ input tokens in all/);
  });

  it("explain --json prints the explanation", async () => {
    const { stdout } = await project.run([
      "explain",
      "team.mjs",
      "--input",
      "topic=otters",
      "--json",
    ]);
    const { tasks } = JSON.parse(stdout) as {
      readonly tasks: readonly { readonly taskId: string; readonly model: string }[];
    };
    expect(tasks.map(({ taskId, model }) => [taskId, model])).to.deep.equal([
      ["facts", "none:never"],
      ["text", "none:never"],
    ]);
  });

  it("explain ends with 2 for a missing variable", async () => {
    const { code, stderr } = await project.run(["explain", "team.mjs"]);
    expect(code).to.equal(2);
    expect(stderr).to.include("--input topic=");
  });

  it("explain shows the form of typed inputs, and refuses inputs that do not match", async () => {
    project.install("zod", join(projectRoot, "node_modules/zod"));
    project.write(
      "typed.mjs",
      TEAM.replace("import", 'import { z } from "zod";\nimport').replace(
        "({ model,",
        "({ model, inputType: z.object({ topic: z.string(), words: z.number().default(9) }),",
      ),
    );
    const run = (...inputs: string[]): ReturnType<ProjectFolder["run"]> =>
      project.run(["explain", "typed.mjs", ...inputs.flatMap((input) => ["--input", input])]);
    const { stdout } = await run("topic=otters", "words=5");
    expect(stdout).to.include("Inputs:\n  topic (string)\n  words (number, optional)");
    for (const [input, part] of [
      ["word=5", "Unknown input 'word'"],
      ["words=five", "--input words must be number"],
      ["words=5", "topic"],
    ] as const) {
      const { code, stderr } = await run(input);
      expect(code, input).to.equal(2);
      expect(stderr).to.include(part);
    }
  });

  it("dag prints Mermaid, and the schema's document with --json", async () => {
    const mermaid = await project.run(["dag", "team.mjs"]);
    expect(mermaid.stdout).to.match(/^flowchart TD\n/);
    const { stdout, code } = await project.run(["dag", "team.mjs", "--json"]);
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ schemaVersion: "1.3", type: "dag" });
  });

  it("doctor reports which keys are set, and not their values", async () => {
    const { code, stdout } = await project.run(["doctor"], { OPENAI_API_KEY: "sk-very-secret" });
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/ok +OPENAI_API_KEY/)
      .and.match(/missing ANTHROPIC_API_KEY/);
    expect(stdout).not.to.include("very-secret");
  });

  it("doctor --json names the installed packages, and how to install the others", async () => {
    const { stdout } = await project.run(["doctor", "--json"]);
    const report = JSON.parse(stdout) as ReturnType<typeof examine>;
    expect(report.node).to.deep.include({ version: process.versions.node, ok: true });
    expect(report.packages.find(({ name }) => name === "pg")?.installed).to.match(/^8\./);
    expect(report.traces).to.deep.include({ writable: true });
  });

  it("doctor prints the command that installs a missing package", () => {
    const other = new ProjectFolder();
    other.install("agentensemble", join(projectRoot, "docs")); // no package.json there, so the command looks at its own copy
    expect(examine(other.path).agentensemble.folder).to.equal(join(projectRoot, "dist"));
    expect(examine(other.path).typescript).to.satisfy(
      (loader: unknown) => loader === null || loader === "Node.js",
    );
  });

  it("doctor of a file explains every problem that prevents a run, and ends with 2", async () => {
    project.write("traces", "a file where the folder should be");
    project.write(
      "broken.mjs",
      `import { Agent, Ensemble, Review, Task, tool } from "agentensemble";
import { clientTool } from "agentensemble/tools";
const zone = clientTool({ name: "zone", description: "Returns the time zone", input: { type: "object" } });
const pay = tool({ name: "pay", description: "Pays", requireApproval: true, execute: () => "paid" });
const odd = { provider: "acme", modelId: "odd", chat: () => undefined, check() { throw new Error("acme is closed"); } };
export default new Ensemble({
  model: "openai:gpt-5-mini",
  captureMode: "FULL",
  tasks: [
    new Task({ description: "Write about {topic}", review: Review.required() }),
    new Task({ description: "Pay", agent: new Agent({ role: "Payer", goal: "Pay", model: odd, tools: [pay, zone] }) }),
  ],
});`,
    );
    const { code, stdout } = await project.run(["doctor", "broken.mjs"]);
    expect(code).to.equal(2);
    for (const part of [
      "Task 'Write about {topic}' has no usable model",
      "OPENAI_API_KEY",
      "acme is closed",
      "Task 'Write about {topic}' needs a review, but no reviewer can answer it",
      "Tool 'pay' requires approval",
      "Tool 'zone' is executed by a page",
      "Traces can't be written to the folder",
    ])
      expect(stdout).to.include(part);
    for (const page of ["providers", "review", "capture"])
      expect(stdout).to.include(`page: docs/${page}.md`);
    const json = await project.run(["doctor", "broken.mjs", "--json"]);
    const { problems } = JSON.parse(json.stdout) as {
      readonly problems: readonly { readonly code: string; readonly hints: readonly string[] }[];
    };
    expect(json.code).to.equal(2);
    expect(problems.map(({ code: kind }) => kind)).to.deep.equal([
      "AE_VALIDATION",
      "AE_VALIDATION",
      "AE_VALIDATION",
      "AE_REVIEW_UNAVAILABLE",
      "AE_REVIEW_UNAVAILABLE",
      "AE_REVIEW_UNAVAILABLE",
    ]);
    expect(problems.every(({ hints }) => Array.isArray(hints))).to.equal(true);
  });

  it("doctor of a file names unusable files for memory, lessons and recordings, and creates none", async () => {
    const other = new ProjectFolder();
    other.write("taken", "a file where a folder should be");
    other.write("lessons.json", "{ torn");
    const store = (memory: string): string =>
      `import { Ensemble, LongTermMemory, MemoryStore, ReflectionStore, Task } from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";
const tasks = [new Task({ description: "Do", handler: () => "done" })];
export default new Ensemble({ tasks, ${memory} });`;
    const files = {
      "stores.mjs": `memoryStore: MemoryStore.file("taken/memory.jsonl"),
  memory: { longTerm: LongTermMemory.of(MemoryStore.file(".")) },
  reflectionStore: ReflectionStore.file("lessons.json")`,
      "record.mjs": `plugins: [recordTo("taken/recording.jsonl")]`,
      "replay.mjs": `plugins: [replayFrom("none.jsonl")]`,
      "fine.mjs": `memoryStore: MemoryStore.file("new/memory.jsonl"),
  reflectionStore: ReflectionStore.file("new/lessons.json")`,
    };
    for (const [name, options] of Object.entries(files)) other.write(name, store(options));
    const reports = new Map<string, { readonly code: number | null; readonly stdout: string }>();
    for (const name of Object.keys(files)) reports.set(name, await other.run(["doctor", name]));
    expect([...reports.values()].map(({ code }) => code)).to.deep.equal([2, 2, 2, 0]);
    const shown = (name: string): string => reports.get(name)?.stdout ?? "";
    expect(shown("stores.mjs"))
      .to.include(`the folder ${join(other.path, "taken")} can't be written`)
      .and.include("is not a regular file")
      .and.include("lessons.json' are not valid JSON (line 1)")
      .and.include("page: docs/memory-stores.md")
      .and.include("page: docs/reflection.md");
    expect(shown("record.mjs")).to.include("The recording can't be written");
    expect(shown("replay.mjs")).to.include("none.jsonl");
    expect(existsSync(join(other.path, "new"))).to.equal(false);
  });

  it("doctor ends with 0 for a file that can run, and with 2 for a file that can't be loaded", async () => {
    const { code, stdout } = await project.run(["doctor", "team.mjs"]);
    expect(code).to.equal(0);
    expect(stdout).to.include("It can be run");
    const missing = await project.run(["doctor", "missing.mjs"]);
    expect(missing.code).to.equal(2);
    expect(missing.stdout).to.include("missing.mjs").and.include("page: docs/command-line.md");
  });

  it("print help with an example", async () => {
    for (const command of [
      [],
      ["run"],
      ["explain"],
      ["dag"],
      ["replay"],
      ["trace", "show"],
      ["trace", "diff"],
      ["doctor"],
    ]) {
      const { code, stdout } = await project.run([...command, "--help"]);
      expect(code, command.join(" ")).to.equal(0);
      expect(stdout, command.join(" ")).to.include("$ agentensemble ").and.include("--help");
    }
  });

  it("print the package's version", async () => {
    const { version } = JSON.parse(readProjectFile("package.json")) as { readonly version: string };
    expect((await project.run(["--version"])).stdout).to.equal(`${version}\n`);
  });

  it("end with 2 and show the help when no command is given", async () => {
    const { code, stderr } = await project.run([]);
    expect(code).to.equal(2);
    expect(stderr).to.include("Usage: agentensemble");
  });
});

describe("the doctor's list", () => {
  it("describes the use of every optional package", () => {
    const { peerDependencies } = JSON.parse(readProjectFile("package.json")) as {
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    expect(Object.keys(OPTIONAL_PACKAGES)).to.have.members(Object.keys(peerDependencies));
  });
});

describe("docs/command-line.md", () => {
  it("lists exactly the exit codes", () => {
    expect(
      tableOf("docs/command-line.md", "exit code").map(([code]) => Number(code)),
    ).to.deep.equal(Object.values(ExitCode));
  });
});
