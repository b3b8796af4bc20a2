import { expect } from "chai";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import {
  createProject,
  stepsAfterCreation,
  ProjectCreationError,
  TEMPLATES,
} from "../../src/cli/create/create-project.js";
import { allCases } from "../support/all-cases.js";
import { projectRoot } from "../support/project.js";
import { rejectionOf } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { ProjectFolder } from "./project-folder.js";

const templates = join(projectRoot, "create-agentensemble/templates");

/** Creates a project in `folder` of a temporary folder. */
const create = (template: string, folder: string): Promise<string> =>
  createProject({ template, folder, templates, version: "^1.2.3" });

const INSTALLED = [
  ...["tsx", "zod", "wink-nlp", "wink-eng-lite-web-model", "hono", "@hono/node-server"],
  ...["ai", "@ai-sdk/react", "esbuild", "react", "react-dom"],
];

/** Installs the packages that a new project uses. */
function installInto(project: string): void {
  const links = { agentensemble: projectRoot };
  for (const name of INSTALLED)
    Object.assign(links, { [name]: join(projectRoot, "node_modules", name) });
  for (const [name, target] of Object.entries(links)) {
    const path = join(project, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, "dir");
  }
}

describe("a new project", () => {
  it("has a template for each offered name", () => {
    const folders = readdirSync(templates).filter((name) => name !== "base");
    expect(folders.sort()).to.deep.equal(Object.keys(TEMPLATES).sort());
  });

  for (const template of Object.keys(TEMPLATES)) {
    if (template === "chat" && !allCases) continue; // takes seconds
    it(`created from the template ${template} passes its tests without a key`, async () => {
      const folder = await create(template, join(temporaryFolder(), "My Team!"));
      const { name, dependencies } = JSON.parse(
        readFileSync(join(folder, "package.json"), "utf8"),
      ) as { name: string; dependencies: Record<string, string> };
      expect(name).to.equal("my-team");
      expect(dependencies["agentensemble"]).to.equal("^1.2.3");
      expect(readFileSync(join(folder, "README.md"), "utf8")).to.match(/^# my-team\n/);
      expect(readdirSync(folder)).to.include.members([
        ".gitignore",
        ".env.example",
        "AGENTS.md",
        "src",
        "test",
      ]);
      expect(stepsAfterCreation(folder, template)).to.include(`  cd ${folder}\n  npm install`);
      installInto(folder);
      const tests = readdirSync(join(folder, "test")).map((file) => join("test", file));
      const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;
      const { status, stdout } = spawnSync(
        process.execPath,
        ["--import", "tsx", "--test", ...tests],
        { cwd: folder, env: { ...env, OPENAI_API_KEY: "sk-unused" }, encoding: "utf8" },
      );
      expect(status, stdout).to.equal(0);
    });
  }

  it("is created in an empty folder with a repository, and keeps the repository", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".git"));
    await create("minimal", folder);
    expect(readdirSync(folder)).to.include.members([".git", "package.json"]);
    expect(readdirSync(folder).filter((name) => name.startsWith(".agentensemble-"))).to.be.empty;
  });

  it("refuses an unknown template, a folder that is not empty, and a file, and writes nothing", async () => {
    const folder = temporaryFolder();
    const refusal = (work: Promise<string>): Promise<ProjectCreationError> =>
      rejectionOf(ProjectCreationError, work);
    const unknown = await refusal(create("chatt", join(folder, "new")));
    expect(unknown.message).to.equal("There is no template 'chatt'");
    writeFileSync(join(folder, "note.txt"), "mine");
    const full = await refusal(create("minimal", folder));
    expect(full.message).to.match(/is not empty: it contains note\.txt$/);
    const file = await refusal(create("minimal", join(folder, "note.txt")));
    expect(file.message).to.match(/is not a folder that can be read$/);
    const below = await refusal(create("minimal", join(folder, "note.txt/team")));
    expect(below).to.have.property("hint");
    expect(readdirSync(folder)).to.deep.equal(["note.txt"]);
  });

  it("leaves no files if it can't be written completely", async () => {
    const own = temporaryFolder();
    const files = ["+first.txt", ".git/ours", "_gitignore", "package.json", "README.md"];
    for (const file of files) {
      const path = join(own, "base", file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "{}");
    }
    mkdirSync(join(own, "minimal"));
    const refusal = (template: string, folder: string): Promise<ProjectCreationError> =>
      rejectionOf(
        ProjectCreationError,
        createProject({ template, folder, templates: own, version: "1.0.0" }),
      );
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".git/mine"), "mine");
    const { message } = await refusal("minimal", folder); // its .git is not replaced
    expect(message).to.include("ENOTEMPTY");
    expect(readdirSync(folder)).to.deep.equal([".git"]);
    expect(readdirSync(join(folder, ".git"))).to.deep.equal(["mine"]);
    const outer = temporaryFolder();
    await refusal("chat", join(outer, "new/team")); // the folder of the template is missing
    expect(readdirSync(outer)).to.deep.equal([]);
  });
});

describe("agentensemble init", () => {
  it("creates a project, or names the templates and ends with 2", async () => {
    const project = new ProjectFolder();
    const made = await project.run(["init", "research", "team", "--use", "file:../x.tgz"]);
    expect(made.code, made.stderr).to.equal(0);
    expect(made.stdout).to.match(/^Created team from the template 'research'/);
    expect(project.read("team/package.json")).to.include('"agentensemble": "file:../x.tgz"');
    const refused = await project.run(["init", "chatt", "other", "--json"]);
    expect(refused.code).to.equal(2);
    expect(refused.stdout).to.include("There is no template 'chatt'").and.include("Templates: ");
    expect(existsSync(join(project.path, "other"))).to.equal(false);
  });

  it("leaves no file behind if it is interrupted", async () => {
    const project = new ProjectFolder();
    const { child, ended } = project.start(["init", "chat", "team"]);
    const drafts = (): readonly string[] =>
      readdirSync(project.path).filter((name) => name.startsWith(".agentensemble-"));
    while (drafts().length === 0 && child.exitCode === null) await pause(1);
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    expect([code, stdout]).to.deep.equal([null, ""]);
    expect(readdirSync(project.path)).to.deep.equal(["node_modules"]);
  });
});

describe("create-agentensemble", () => {
  it("creates the same project, and explains wrong arguments with exit code 2", async () => {
    const folder = temporaryFolder();
    const program = join(folder, "index.mjs");
    await build({
      entryPoints: [join(projectRoot, "src/cli/create/create-main.ts")],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    writeFileSync(join(folder, "package.json"), '{ "version": "4.5.6" }');
    symlinkSync(templates, join(folder, "templates"), "dir");
    const run = (...args: readonly string[]): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8" });
    const { status, stdout } = run("team", "--template", "service");
    expect(status).to.equal(0);
    expect(stdout).to.include("  cd team\n  npm install");
    expect(readFileSync(join(folder, "team/package.json"), "utf8")).to.include('"^4.5.6"');
    for (const args of [["a", "b"], ["--tamplate", "x"], ["team"]]) {
      const { status: code, stderr } = run(...args);
      expect(code, args.join(" ")).to.equal(2);
      expect(stderr).to.match(/^error: .+\n.+/);
    }
    expect(run("--help").stdout).to.match(/^Usage: npm create agentensemble/);
  });
});

describe("agentensemble dev", () => {
  it("runs the ensemble with the dashboard, and runs it again after a change", async () => {
    const project = new ProjectFolder();
    const team = (text: string): string => `import { Ensemble, Task } from "agentensemble";
export default new Ensemble({ tasks: [new Task({ description: "x", handler: () => ${JSON.stringify(text)} })] });
`;
    project.write("package.json", '{ "type": "module" }');
    project.write("team.mjs", team("first text"));
    const { child, ended, said } = project.start(["dev", "team.mjs", "--port", "0"]);
    await said("COMPLETED");
    const second = new Promise<void>((resolve) => {
      child.stdout?.on("data", (text: string) => text.includes("second text") && resolve());
    });
    project.write("team.mjs", team("second text"));
    await second;
    child.kill("SIGTERM");
    const { stdout, stderr } = await ended;
    expect(stdout).to.include("second text");
    expect(stderr).to.match(/Dashboard: http:\/\/127\.0\.0\.1:\d+/);
  });
});
