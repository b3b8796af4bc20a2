import { chmodSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { placesOf } from "../../src/cli/dashboard-command.js";
import { ExitCode } from "../../src/cli/exit-codes.js";
import { RunStore } from "../../src/plugins/dashboard/stores/run-store.js";
import { summaryOf } from "../plugins/dashboard/stores/summaries.js";
import { traceOf } from "../plugins/observability/trace/teams.js";
import { until } from "../support/time.js";
import { ProjectFolder } from "./project-folder.js";

/** Keeps runs in the folder `runs` of a project. */
async function keepRuns(project: ProjectFolder, ...runIds: readonly string[]): Promise<void> {
  const store = RunStore.file(join(project.path, "runs"));
  for (const runId of runIds) await store.put(summaryOf(runId));
  await store.dispose?.();
}

interface ListBody {
  readonly total: number;
  readonly runs: readonly { readonly runId: string }[];
}

async function listAt(url: string, token?: string): Promise<{ status: number; body: ListBody }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(new URL("/api/runs", url), { headers });
  return { status: response.status, body: (await response.json()) as ListBody };
}

describe("the command dashboard", function () {
  this.timeout(30_000);

  it("serves the runs of folders, traces and diagrams until it is interrupted", async () => {
    const project = new ProjectFolder();
    await keepRuns(project, "a", "b");
    project.write("one.trace.json", (await traceOf("sequential")).toJson());
    const args = ["dashboard", "runs", "one.trace.json", "--port", "0", "--json"];
    const { child, ended, said } = project.start(args);
    let stdout = "";
    child.stdout?.on("data", (text: string) => (stdout += text));
    await said("Ctrl-C");
    const { url, runs } = JSON.parse(stdout) as { readonly url: string; readonly runs: number };
    expect(runs).to.equal(3);
    const { body } = await listAt(url);
    expect(body.total).to.equal(3);
    expect(body.runs.map(({ runId }) => runId)).to.include.members(["a", "b"]);
    child.kill("SIGINT");
    expect((await ended).code).to.equal(ExitCode.OK);
  });

  it("registers the ensembles of a program, and keeps their runs in --store", async () => {
    const project = new ProjectFolder({
      "bird-team.mjs": `import { Ensemble, Task } from "agentensemble";
const task = new Task({ description: "Write about {topic}", handler: ({ inputs }) => inputs.topic });
export default new Ensemble({ tasks: [task] });`,
    });
    const args = ["dashboard", "bird-team.mjs", "--port", "0", "--store", "file:runs", "--json"];
    const { child, ended, said } = project.start(args);
    let stdout = "";
    child.stdout?.on("data", (text: string) => (stdout += text));
    await said("Ctrl-C");
    const shown = JSON.parse(stdout) as { readonly url: string; readonly ensembles: number };
    expect(shown.ensembles).to.equal(1);
    const answer = await fetch(new URL("/api/runs", shown.url), {
      method: "POST",
      headers: { "content-type": "application/json", origin: new URL(shown.url).origin },
      body: JSON.stringify({ ensemble: "bird-team", inputs: { topic: "swifts" } }),
    });
    expect(answer.status).to.equal(202);
    const { runId } = (await answer.json()) as { readonly runId: string };
    for (let total = 0; total === 0;) total = (await listAt(shown.url)).body.total;
    child.kill("SIGINT");
    expect((await ended).code).to.equal(ExitCode.OK);
    const kept = await RunStore.readOnly([join(project.path, "runs")]).get(runId);
    expect(kept).to.include({ ensemble: "bird-team", state: "done" });
  });

  it("requires the token of --token", async () => {
    const project = new ProjectFolder();
    await keepRuns(project, "a");
    const args = ["dashboard", "runs", "--port", "0", "--token", "let-me-in-please"];
    const { child, ended, said } = project.start(args);
    let stdout = "";
    child.stdout?.on("data", (text: string) => (stdout += text));
    await said("Ctrl-C");
    const url = stdout.trim();
    expect(stdout).to.not.contain("let-me-in");
    expect((await listAt(url)).status).to.equal(401);
    expect((await listAt(url, "let-me-in-please")).body.total).to.equal(1);
    child.kill("SIGTERM");
    expect((await ended).code).to.equal(ExitCode.OK);
  });

  it("opens the page in the browser on request, without the token", async function () {
    if (process.platform !== "linux") this.skip();
    const project = new ProjectFolder({ "xdg-open": '#!/bin/sh\necho "$@" > opened\n' });
    chmodSync(join(project.path, "xdg-open"), 0o755);
    await keepRuns(project, "a");
    const args = ["dashboard", "runs", "--port", "0", "--token", "--open"];
    const { child, ended } = project.start(args, {
      PATH: `${project.path}:${process.env["PATH"]}`,
    });
    const path = join(project.path, "opened");
    await until(() => existsSync(path) && project.read("opened") !== "");
    const opened = project.read("opened");
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    expect(code).to.equal(ExitCode.OK);
    expect(stdout).to.include("#t=");
    expect(opened.trim()).to.equal(stdout.trim().replace(/#.*/, ""));
  });

  it("continues if there is no browser to open", async function () {
    if (process.platform !== "linux") this.skip();
    const project = new ProjectFolder();
    await keepRuns(project, "a");
    const args = ["dashboard", "runs", "--port", "0", "--open"];
    const PATH = join(project.path, "bin");
    mkdirSync(PATH);
    symlinkSync(process.execPath, join(PATH, "node"));
    const { child, ended, said } = project.start(args, { PATH });
    await said("No browser could be opened");
    child.kill("SIGINT");
    expect((await ended).code).to.equal(ExitCode.OK);
  });

  it("ends with exit code 2 for files that it can't read", async () => {
    const project = new ProjectFolder({ "team.mjs": "export default 1;" });
    for (const [args, text] of [
      [["nowhere"], "There is no file or folder nowhere"],
      [["team.mjs"], "export default new Ensemble"],
      [["team.mjs", "traces"], "can't be shown together"],
      [["--port", "99999"], "--port must be a number"],
      [["--store", " "], "--store must not be blank"],
      [["--store", "mysql://x"], "mysql"],
    ] as const) {
      const { code, stderr } = await project.run(["dashboard", ...args]);
      expect(code, text).to.equal(ExitCode.USAGE);
      expect(stderr).to.contain(text);
    }
  });

  it("shows the named sources, else the store of the environment, else the default store and ./traces", () => {
    expect(placesOf(["a"], {}, { AGENTENSEMBLE_STORE: "pglite:x" })).to.deep.equal(["a"]);
    expect(placesOf(["a"], { store: "file:/x/.agentensemble" })).to.deep.equal([
      "a",
      "file:/x/.agentensemble/dashboard",
    ]);
    expect(placesOf([], { store: "postgres://h/d" }, {})).to.deep.equal(["postgres://h/d"]);
    expect(placesOf([], {}, { AGENTENSEMBLE_STORE: "pglite:x" })).to.include("pglite:x");
    expect(placesOf([], {}, {})).to.include("file:./.agentensemble/dashboard");
    const project = new ProjectFolder();
    mkdirSync(join(project.path, "traces"));
    const before = process.cwd();
    process.chdir(project.path);
    try {
      expect(placesOf([], {}, {})).to.deep.equal(["./traces", "file:./.agentensemble/dashboard"]);
    } finally {
      process.chdir(before);
    }
  });
});
