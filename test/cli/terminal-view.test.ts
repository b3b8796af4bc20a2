import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { Screen } from "../plugins/observability/console/screen.js";
import { projectRoot } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { ProjectFolder } from "./project-folder.js";

const COMMAND = join(projectRoot, "dist/bundle/cli/main.js");
const TEAM = `import { Ensemble, Task } from "agentensemble";
import { execSync } from "node:child_process";
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const handler = (ms) => async () => { await wait(ms); return "done"; };
const names = Array.from({ length: 5 }, (_, n) => "a task with quite a long name, number " + n);
const tasks = names.map((name, n) => new Task({ name, description: "x", handler: handler(200 + 100 * n) }));
if (process.env.NARROWS) tasks.push(new Task({ name: "narrow", description: "x", handler: async () => {
  await wait(300);
  execSync("stty cols 40", { stdio: "inherit" });
  return "done";
} }));
if (process.env.WAITS) tasks.push(new Task({ name: "endless", description: "x", handler: ({ signal }) =>
  new Promise((_, reject) => { const timer = setInterval(() => {}, 1000); signal.onabort = () => { clearInterval(timer); reject(signal.reason); }; }) }));
export default new Ensemble({ tasks, workflow: "PARALLEL", maxConcurrency: 8 });
`;
const SKIPPED =
  spawnSync("script", ["--version"]).status === 0 && process.platform === "linux"
    ? undefined
    : "needs the command `script` of util-linux";

type Size = readonly [columns: number, rows: number];
type OnText = (text: string, type: (keys: string) => void) => void;

/** Runs the team in a pseudo-terminal. `onText` sees the output so far, and may type. */
function inTerminal(
  size: Size,
  environment: Readonly<Record<string, string>>,
  onText?: OnText,
): ReturnType<typeof programInTerminal> {
  const { path } = new ProjectFolder({ "team.mjs": TEAM });
  return programInTerminal(path, [COMMAND, "run", "team.mjs"], size, environment, onText);
}

/** Runs a program of Node.js in a pseudo-terminal. */
async function programInTerminal(
  folder: string,
  program: readonly string[],
  [columns, rows]: Size,
  environment: Readonly<Record<string, string>>,
  onText: OnText = () => undefined,
): Promise<{ readonly text: string; readonly code: number | null }> {
  const words = [process.execPath, ...program].map((word) => `'${word}'`).join(" ");
  const line = `stty cols ${columns} rows ${rows}; ${words}`;
  const env: NodeJS.ProcessEnv = { ...process.env, TERM: "xterm", LC_ALL: "C.UTF-8" };
  for (const name of ["CI", "NO_COLOR", "FORCE_COLOR", "NODE_OPTIONS"]) delete env[name];
  const child = spawn(
    "script",
    ["--quiet", "--flush", "--return", "--command", line, "/dev/null"],
    {
      cwd: folder,
      env: { ...env, ...environment },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    onText(text, (keys) => child.stdin.write(keys));
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { text, code };
}

describe("the terminal of `agentensemble run`", () => {
  before(function () {
    if (SKIPPED === undefined) return;
    process.stderr.write(`skipped: ${SKIPPED}\n`);
    this.skip();
  });

  for (const size of [
    [80, 24],
    [40, 24],
    [40, 5],
  ] as const)
    it(`shows no torn line and leaves none in ${size[0]} columns and ${size[1]} rows`, async () => {
      const { text, code } = await inTerminal(size, {});
      const screen = new Screen(size[0], size[1]);
      const end = text.indexOf("COMPLETED");
      screen.write(text.slice(0, text.lastIndexOf("\u001B[J", end)));
      expect(screen.widest).to.be.below(size[0]).and.above(20);
      const whole = new Screen(200, 60);
      whole.write(text);
      expect(whole.text).to.match(/^\nRun \S+ COMPLETED after [^]*done\n$/);
      expect(whole.text.match(/a task with quite/g)).to.have.lengthOf(5); // in the table alone
      expect(code).to.equal(0);
    });

  it("adapts to a window that becomes narrower", async () => {
    const { text, code } = await inTerminal([80, 24], { NARROWS: "1" });
    const frames = text.slice(0, text.indexOf("COMPLETED")).split("\u001B[J");
    const widths = frames.map((frame) => {
      const screen = new Screen(200);
      screen.write(frame.replace(/\r\u001B\[\d+A$/, ""));
      return screen.widest;
    });
    expect(Math.max(...widths)).to.be.above(40);
    expect(Math.max(...widths.slice(-3, -1))).to.be.below(40);
    expect(code).to.equal(0);
  });

  it("writes no escape sequence if NO_COLOR is set", async () => {
    const { text, code } = await inTerminal([80, 24], { NO_COLOR: "1" });
    expect(text).to.include("start [1/5] a task").and.not.include("\u001B");
    expect(code).to.equal(0);
  });

  it("leaves the terminal usable after Ctrl-C", async () => {
    let typed = false;
    const { text, code } = await inTerminal([80, 24], { WAITS: "1" }, (shown, type) => {
      if (typed || !shown.includes("endless")) return;
      typed = true;
      type("\u0003");
    });
    const screen = new Screen(80);
    screen.write(text.replace("^C", ""));
    expect(screen.text).to.include("SIGINT: the run is being cancelled").and.include("CANCELLED");
    expect(screen.isAtLineStart).to.equal(true);
    expect(text).not.to.include("\u001B[?");
    expect(code).to.equal(130);
  });

  it("shows the main example on one screen, and updates the tasks in place", async () => {
    const [columns, rows] = [80, 24];
    const out = temporaryFolder();
    const main = join(projectRoot, "dist/examples/briefing/main.js");
    const keys = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", AGENTENSEMBLE_MODEL: "" };
    const program = [main, "examples/data", "--out", out];
    const { text, code } = await programInTerminal(projectRoot, program, [columns, rows], keys);
    expect(text)
      .to.match(/\d+\/14 tasks/)
      .and.include("Researcher, ");
    const screen = new Screen(columns, rows);
    screen.write(text);
    const shown = screen.text.trimEnd().split("\n");
    const used = shown.reduce(
      (sum, { length }) => sum + Math.max(1, Math.ceil(length / columns)),
      0,
    );
    expect(used).to.be.at.most(rows - 1); // the prompt of the shell
    expect(shown.join("\n"))
      .to.match(/^Briefing on 6 documents/)
      .and.match(/COMPLETED: 14 of 14 tasks done/)
      .and.match(/more lines in .*briefing\.md/)
      .and.match(/trace show \S+trace\.json$/);
    expect(code).to.equal(0);
  });
});
