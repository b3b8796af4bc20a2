import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { projectRoot } from "../support/project.js";
import { ProjectFolder } from "./project-folder.js";

const IMPORTS = 'import { Ensemble, Task } from "agentensemble";\n';
const FILES = {
  "package.json": '{ "type": "module" }',
  "team.mjs": `${IMPORTS}import { ScriptedModel } from "agentensemble/testing";
console.log("printed by the file");
const facts = new Task({ name: "facts", description: "Collect facts on {topic}", handler: ({ inputs }) => ({ topic: inputs.topic }) });
const text = new Task({ name: "text", description: "Write about {topic}", context: [facts] });
export default new Ensemble({ model: new ScriptedModel(["Otters \\u001b[31mswim."]), tasks: [facts, text] });`,
  "echo.mjs": `${IMPORTS}export default () => new Ensemble({ tasks: [new Task({ description: "echo", handler: ({ inputs }) => inputs })] });`,
  "failing.mjs": `${IMPORTS}export default async () => new Ensemble({ tasks: [
  new Task({ name: "good", description: "works", handler: () => "done" }),
  new Task({ name: "bad", description: "breaks", handler: () => { throw new Error("the disk is full"); } })] });`,
  "slow.mjs": `${IMPORTS}export default new Ensemble({ tasks: [
  new Task({ name: "quick", description: "quick", handler: () => "first result" }),
  new Task({ name: "slow", description: "slow", handler: ({ signal }) => new Promise((_, reject) => {
    const timer = setTimeout(() => {}, 600_000);
    signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); });
    console.log("slow has begun"); }) })] });`,
  "stubborn.mjs": `${IMPORTS}export default new Ensemble({ tasks: [new Task({ description: "slow", handler: () => new Promise(() => {
  setInterval(() => {}, 1000); console.log("stubborn has begun"); }) })], plugins: [{ name: "never-ends", dispose: () => new Promise(() => {}) }] });`,
  "unmodelled.mjs": `${IMPORTS}export default new Ensemble({ tasks: [Task.of("The swift sleeps in the air. The swift is a bird. Say what a swift is.")] });`,
  "open-end.mjs": `${IMPORTS}setInterval(() => {}, 1000);\nexport default new Ensemble({ tasks: [new Task({ description: "x", handler: () => "x" })] });`,
  "named.mjs": `${IMPORTS}export const team = new Ensemble({ tasks: [Task.of("x")] });`,
  "number.mjs": "export default 42;",
  "reviewed.mjs": `import { Ensemble, Review, Task } from "agentensemble";
export default new Ensemble({ tasks: [new Task({ description: "x", handler: () => "draft", review: Review.required() })] });`,
  "broken.mjs": "const a = ;",
  "throws.mjs": 'function start() { throw new TypeError("no such thing"); }\nstart();',
  "unhandled.mjs": `${IMPORTS}export default new Ensemble({ inputs: { place: "here" }, tasks: [Task.of("Write about {topic}")] });`,
  "warned.mjs": `${IMPORTS}export default new Ensemble({ managerMaxIterations: 3, tasks: [new Task({ description: "x", handler: () => "x" })] });`,
  "invalid.mjs": `${IMPORTS}export default new Ensemble({ taks: [] });`,
  "waits.mjs": "await new Promise(() => {});",
  "lacks.mjs": 'import "@some/thing/part";',
  "words.txt": "export default 1;",
  "common.cjs": `module.exports = async () => { const { Ensemble, Task } = await import("agentensemble");
  return new Ensemble({ tasks: [new Task({ description: "x", handler: () => "from CommonJS" })] }); };`,
  "team.ts": `${IMPORTS}enum Word { HELLO = "hello from TypeScript" }
export default new Ensemble({ tasks: [new Task({ description: "x", handler: (): string => Word.HELLO })] });`,
  "reduce.mjs": `import { MapReduceEnsemble, Task } from "agentensemble";
export default new MapReduceEnsemble({ items: [1, 2], mapTask: (n) => new Task({ description: "map " + n, handler: () => n }),
  reduceTask: (tasks) => new Task({ description: "reduce", context: tasks, handler: ({ contextOutputs }) => contextOutputs.length }) });`,
};

describe("agentensemble run", () => {
  let project: ProjectFolder;

  before(() => {
    project = new ProjectFolder(FILES);
  });

  describe("a run with a review", () => {
    it("fails before its task starts without a terminal, and with --review none", async () => {
      for (const args of [[], ["--review", "none"]]) {
        const { code, stderr } = await project.run(["run", "reviewed.mjs", ...args]);
        expect([code, stderr.includes("no reviewer can answer it")]).to.deep.equal([1, true]);
      }
    });

    it("requests the review with --review console, and applies onTimeout after the input has ended", async () => {
      const { code, stderr } = await project.run(["run", "reviewed.mjs", "--review", "console"]);
      expect(stderr).to.include("[c] Continue").and.include("the input has ended");
      expect(code).to.equal(124);
    });

    it("requests the review by default if input and output are a terminal", async () => {
      const terminal = "process.stdin.isTTY = process.stdout.isTTY = true";
      const { code, stderr } = await project.run(["run", "reviewed.mjs"], {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(terminal)}`,
      });
      expect(stderr).to.include("[c] Continue").and.include("the input has ended");
      expect(code).to.equal(124);
    });

    it("refuses an unknown value of --review", async () => {
      const { code, stderr } = await project.run(["run", "reviewed.mjs", "--review", "page"]);
      expect([code, stderr.includes("--review must be console or none")]).to.deep.equal([2, true]);
    });
  });

  describe("a run that succeeds", () => {
    it("prints only the final text to standard output, and progress and the file's output to standard error", async () => {
      const { code, stdout, stderr } = await project.run([
        "run",
        "team.mjs",
        "--input",
        "topic=otters",
      ]);
      expect({ code, stdout }).to.deep.equal({ code: 0, stdout: "Otters \u001b[31mswim.\n" });
      expect(stderr)
        .to.include("printed by the file")
        .and.include("start [1/2] facts")
        .and.include("done  text")
        .and.include("COMPLETED");
      expect(stderr, "no colours where there is no terminal").not.to.include("\u001b");
    });

    it("prints one JSON document and no progress with --json", async () => {
      const { code, stdout, stderr } = await project.run([
        "run",
        "team.mjs",
        "--input",
        "topic=otters",
        "--json",
      ]);
      const result = JSON.parse(stdout) as {
        readonly tasks: readonly { readonly taskId: string; readonly parsed: unknown }[];
      };
      expect(code).to.equal(0);
      expect(result).to.include({
        exitReason: "COMPLETED",
        isComplete: true,
        raw: "Otters \u001b[31mswim.",
        trace: null,
      });
      expect(result.tasks.map(({ taskId }) => taskId)).to.deep.equal(["facts", "text"]);
      expect(result.tasks[0]?.parsed).to.deep.equal({ topic: "otters" });
      expect(result).to.have.nested.property("metrics.llmCallCount", 1);
      expect(result).not.to.have.nested.property("metrics.ledger");
      expect(stderr).to.equal("printed by the file\n");
    });

    it("keeps the result when the trace can't be written at the end, and ends with 1", async () => {
      project.write(
        "spoils.mjs",
        `${IMPORTS}import { mkdirSync } from "node:fs";
export default new Ensemble({ tasks: [new Task({ description: "x", handler: () => (mkdirSync("spoilt.json", { recursive: true }), "the result") })] });`,
      );
      const { code, stdout, stderr } = await project.run([
        "run",
        "spoils.mjs",
        "-q",
        "--trace",
        "spoilt.json",
      ]);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "the result\n" });
      expect(stderr).to.match(/Cannot write the trace[^]*it is a folder/);
      rmSync(join(project.path, "spoilt.json"), { recursive: true });
      const json = await project.run(["run", "spoils.mjs", "--json", "--trace", "spoilt.json"]);
      expect(json.code).to.equal(1);
      expect(JSON.parse(json.stdout))
        .to.deep.include({ raw: "the result", trace: null })
        .and.to.have.nested.property("traceError.code", "AE_VALIDATION");
    });

    it("keeps warnings on standard error with --quiet", async () => {
      const { stdout, stderr } = await project.run(["run", "warned.mjs", "-q"]);
      expect(stdout).to.equal("x\n");
      expect(stderr).to.equal(
        "warning: Option 'managerMaxIterations' has no effect in workflow SEQUENTIAL, only in HIERARCHICAL\n",
      );
    });

    it("prints the reason of a failed run once", async () => {
      const { stderr } = await project.run(["run", "failing.mjs"]);
      expect(stderr.split("the disk is full")).to.have.lengthOf(2);
      expect(stderr).to.match(/fail {2}bad \(code\) after [^:\n]+\n/);
    });

    it("shows no progress with --quiet", async () => {
      const { stdout, stderr } = await project.run(["run", "echo.mjs", "-q"]);
      expect({ stdout, stderr }).to.deep.equal({ stdout: "{}\n", stderr: "" });
    });

    it("reads inputs from pairs, files and a JSON file; pairs take precedence", async () => {
      project.write("note.txt", "from a file");
      project.write("inputs.json", '{ "a": 1, "b": ["x"] }');
      const args = [
        "--inputs",
        "inputs.json",
        "--input",
        "a=2=3",
        "--input",
        "c=@note.txt",
        "--input",
        "d=@@home",
      ];
      const { stdout } = await project.run(["run", "echo.mjs", "-q", ...args]);
      expect(JSON.parse(stdout)).to.deep.equal({
        a: "2=3",
        b: ["x"],
        c: "from a file",
        d: "@home",
      });
    });

    it("uses the model of --model for all tasks, resolved by the ensemble's own providers", async () => {
      const { code, stdout } = await project.run([
        "run",
        "unmodelled.mjs",
        "--model",
        "offline:extractive",
        "--json",
      ]);
      expect(code).to.equal(0);
      expect(JSON.parse(stdout)).to.have.nested.property("metrics.llmCallCount", 1);
    });

    it("ends although the file left a resource open", async () => {
      expect((await project.run(["run", "open-end.mjs", "-q"])).code).to.equal(0);
    });

    it("loads CommonJS, and a map-reduce of a fixed tree", async () => {
      expect((await project.run(["run", "common.cjs", "-q"])).stdout).to.equal("from CommonJS\n");
      expect((await project.run(["run", "reduce.mjs", "-q"])).stdout).to.equal("2\n");
    });

    it("accepts an ensemble of another copy of the package, with --model and --trace", async () => {
      const other = new ProjectFolder({ "unmodelled.mjs": FILES["unmodelled.mjs"] });
      const copy = join(other.path, "copy");
      mkdirSync(join(copy, "dist"), { recursive: true });
      cpSync(join(projectRoot, "dist/bundle"), join(copy, "dist/bundle"), { recursive: true });
      cpSync(join(projectRoot, "package.json"), join(copy, "package.json"));
      symlinkSync(join(projectRoot, "node_modules"), join(copy, "node_modules"), "dir");
      other.install("agentensemble", copy);
      const { code } = await other.run([
        "run",
        "unmodelled.mjs",
        "-q",
        "--model",
        "offline:extractive",
        "--trace",
        "t.json",
      ]);
      expect(code).to.equal(0);
      expect(JSON.parse(other.read("t.json"))).to.have.nested.property(
        "taskTraces[0].llmInteractions[0].provider",
        "offline",
      );
    });
  });

  describe("TypeScript", () => {
    it("is loaded by the project's tsx", async () => {
      project.install("tsx", join(projectRoot, "node_modules/tsx"));
      const { code, stdout, stderr } = await project.run(["run", "team.ts", "-q"]);
      expect({ code, stdout, stderr }).to.deep.equal({
        code: 0,
        stdout: "hello from TypeScript\n",
        stderr: "",
      });
    });

    it("is refused with advice if nothing can load it", async function () {
      if ((process.features as { readonly typescript?: unknown }).typescript) this.skip(); // this Node.js can
      const other = new ProjectFolder({ "team.ts": FILES["team.ts"] });
      const { code, stderr } = await other.run(["run", "team.ts"]);
      expect(code).to.equal(2);
      expect(stderr).to.include("npm install --save-dev tsx");
    });
  });

  describe("a run that does not succeed", () => {
    it("ends with 1 and the reason when it fails, and writes the trace", async () => {
      const { code, stdout, stderr } = await project.run([
        "run",
        "failing.mjs",
        "--trace",
        "out/failed.json",
      ]);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "done\n" });
      expect(stderr)
        .to.include("error AE_TASK_EXECUTION")
        .and.include("the disk is full")
        .and.not.include("    at ");
      expect(JSON.parse(project.read("out/failed.json"))).to.include({ exitReason: "ERROR" });
    });

    it("prints the error and the finished work in the JSON document", async () => {
      const { code, stdout } = await project.run(["run", "failing.mjs", "--json"]);
      expect(code).to.equal(1);
      expect(JSON.parse(stdout)).to.have.nested.property("error.code", "AE_TASK_EXECUTION");
      expect(JSON.parse(stdout)).to.have.nested.property("tasks[0].raw", "done");
    });

    it("shows stack traces with --verbose, or if DEBUG is set", async () => {
      expect((await project.run(["run", "failing.mjs", "-q", "--verbose"])).stderr).to.include(
        "    at ",
      );
      expect((await project.run(["run", "failing.mjs", "-q"], { DEBUG: "1" })).stderr).to.include(
        "    at ",
      );
    });

    it("ends with 124 if it exceeds --timeout", async () => {
      const { code, stderr } = await project.run(["run", "slow.mjs", "--timeout", "0.05s"]);
      expect(code).to.equal(124);
      expect(stderr).to.include("AE_RUN_TIMEOUT");
    });

    it("ends with 130 after SIGINT, and prints the finished work and the trace", async () => {
      const { child, said, ended } = project.start([
        "run",
        "slow.mjs",
        "--trace",
        "cancelled.json",
      ]);
      await said("slow has begun");
      child.kill("SIGINT");
      const { code, stdout, stderr } = await ended;
      expect({ code, stdout }).to.deep.equal({ code: 130, stdout: "first result\n" });
      expect(stderr).to.include("AE_RUN_CANCELLED");
      expect(JSON.parse(project.read("cancelled.json"))).to.include({ exitReason: "CANCELLED" });
    });

    it("ends immediately after a second SIGINT", async () => {
      const { child, said, ended } = project.start(["run", "stubborn.mjs"]);
      await said("stubborn has begun");
      child.kill("SIGTERM");
      await said("Again to stop at once");
      child.kill("SIGINT");
      expect((await ended).code).to.equal(130);
    });
  });

  describe("a file that can't be run", () => {
    const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
      [
        "a missing file",
        ["run", "taem.mjs"],
        /There is no file taem\.mjs[^]*Did you mean 'team\.mjs'/,
      ],
      [
        "a file below a file",
        ["run", "words.txt/team.mjs"],
        /^error AE_VALIDATION: There is no file words\.txt\/team\.mjs/,
      ],
      ["a folder", ["run", "node_modules"], /node_modules is not a file/],
      [
        "a file of another kind",
        ["run", "words.txt"],
        /neither JavaScript nor TypeScript[^]*\.mjs/,
      ],
      [
        "a file without a default export",
        ["run", "named.mjs"],
        /has no default export[^]*export default team;/,
      ],
      [
        "a default export that is not an ensemble",
        ["run", "number.mjs"],
        /must be an Ensemble[^]*got: 42[^]*export default new Ensemble/,
      ],
      [
        "a file with a syntax error",
        ["run", "broken.mjs"],
        /Can't load broken\.mjs[^]*Unexpected token[^]*To see the position, run: node /,
      ],
      [
        "a file that throws",
        ["run", "throws.mjs"],
        /Can't load throws\.mjs[^]*no such thing[^]*--verbose/,
      ],
      [
        "a file whose ensemble is invalid",
        ["run", "invalid.mjs"],
        /Unknown option 'taks'[^]*Did you mean 'tasks'/,
      ],
      ["a missing package", ["run", "lacks.mjs"], /npm install @some\/thing \(in /],
      ["no model", ["run", "unmodelled.mjs"], /has no LLM available[^]*hint: Set `model`/],
      [
        "an unknown model",
        ["run", "unmodelled.mjs", "--model", "ofline:x"],
        /Unknown model provider 'ofline'[^]*Did you mean 'offline'/,
      ],
      [
        "a model without a provider",
        ["run", "unmodelled.mjs", "--model", "gpt-5"],
        /Model gpt-5 names no provider and model\. Known: openai[^]*hint: Write provider:model/,
      ],
      [
        "a trace below a file",
        ["run", "echo.mjs", "--trace", "words.txt/out.json"],
        /--trace: can't write words\.txt\/out\.json: \S*words\.txt is not a folder/,
      ],
      [
        "a folder for a trace",
        ["run", "echo.mjs", "--trace", "node_modules"],
        /--trace: can't write node_modules: it is not a file/,
      ],
      ["a missing variable", ["run", "team.mjs"], /\[topic\][^]*--input topic=/],
      [
        "an input that no template names",
        ["run", "unhandled.mjs", "--input", "topic=a", "--input", "toipc=b"],
        /--input toipc: no template of this team[^]*Did you mean 'topic'\? Known: place, topic\.[^]*hint:/,
      ],
      [
        "the same input of explain",
        ["explain", "unhandled.mjs", "--input", "toipc=b"],
        /Did you mean 'topic'/,
      ],
      [
        "an unknown capture mode",
        ["run", "echo.mjs", "--capture", "OF"],
        /captureMode 'OF'[^]*Did you mean 'OFF'/,
      ],
      [
        "a duration without a unit",
        ["run", "echo.mjs", "--timeout", "30"],
        /--timeout[^]*got: 30[^]*30s/,
      ],
      [
        "an input without a name",
        ["run", "echo.mjs", "--input", "=x"],
        /--input must be name=value, got: =x/,
      ],
      [
        "an input that would reach a prototype",
        ["run", "echo.mjs", "--input", "__proto__=x"],
        /can't be named __proto__/,
      ],
      [
        "a missing file of an input",
        ["run", "echo.mjs", "--input", "a=@nowhere.txt"],
        /--input a: can't read nowhere\.txt/,
      ],
      [
        "inputs that are not JSON",
        ["run", "echo.mjs", "--inputs", "words.json"],
        /words\.json is not JSON, from line 2: /,
      ],
      [
        "inputs that are no object",
        ["run", "echo.mjs", "--inputs", "package.json", "--inputs", "list.json"],
        /must be a JSON object, got: \[1\]/,
      ],
      ["an unknown option", ["run", "echo.mjs", "--jsn"], /unknown option '--jsn'[^]*--json/],
      ["an unknown command", ["rnu", "echo.mjs"], /unknown command 'rnu'[^]*run/],
      ["no file", ["run"], /missing required argument 'file'/],
    ];

    before(() => {
      project.write("list.json", "[1]");
      project.write("words.json", '{ "a":\nwords }');
    });

    for (const [what, args, message] of cases) {
      it(`ends with exit code 2 and advice: ${what}`, async () => {
        const { code, stdout, stderr } = await project.run(args);
        expect({ code, stdout }).to.deep.equal({ code: 2, stdout: "" });
        expect(stderr)
          .to.match(message)
          .and.not.match(/^\s+at /m);
      });
    }

    it("prints the error as JSON with --json", async () => {
      const { code, stdout } = await project.run(["run", "taem.mjs", "--json"]);
      expect(code).to.equal(2);
      expect(JSON.parse(stdout)).to.have.nested.property("error.code", "AE_VALIDATION");
      expect(JSON.parse((await project.run(["run", "--json", "--what"])).stdout))
        .to.have.nested.property("error.message")
        .that.includes("--what");
    });

    it("is reported if it waits forever", async () => {
      const { code, stderr } = await project.run(["run", "waits.mjs"]);
      expect(code).to.equal(1);
      expect(stderr).to.include("ended before its work was done");
    });
  });
});
