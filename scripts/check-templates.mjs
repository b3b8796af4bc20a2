// Packs the package and create-agentensemble. Creates a project from each template with the packed
// program, installs it with npm, runs its tests and starts it. A program must end, a service must
// answer. Prints the time and the size of each.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inTemporaryFolder, output, root } from "./packed-project.mjs";

const FLAGS = ["--no-audit", "--no-fund", "--ignore-scripts"];

/** Packs the package in `folder` into `target` and returns the name of the file. */
function pack(folder, target) {
  const [{ filename }] = JSON.parse(
    output(folder, "npm", ["pack", "--silent", "--json", "--pack-destination", target])
      .split("\n")
      .slice(-1e6)
      .join("\n")
      .replace(/^[^[]*/, ""),
  );
  return join(target, filename);
}

/** The port and a path of each template with a server. */
const SERVERS = { chat: "3917/", service: "7329/api/health/ready" };

/**
 * Runs `npm start`. A project with an address is a server: it must answer there, and end on
 * request.
 */
async function startProject(project, address) {
  const keys = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", AGENTENSEMBLE_MODEL: "" };
  if (address === undefined) return void output(project, "npm", ["start"], keys);
  const [port] = address.split("/");
  const options = {
    cwd: project,
    stdio: "ignore",
    detached: true,
    env: { ...process.env, ...keys, PORT: port },
  };
  const child = spawn("npm", ["start"], options);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let answer;
  for (let attempt = 0; attempt < 600 && !answer?.ok; attempt++) {
    await sleep(100);
    answer = await fetch(`http://127.0.0.1:${address}`).catch(() => undefined);
  }
  process.kill(-child.pid, "SIGTERM"); // npm and its child processes
  await ended;
  assert.ok(answer?.ok, `${project} answers at ${address}`);
}

await inTemporaryFolder(async (folder) => {
  output(root, "npm", ["run", "build"]);
  const main = pack(root, folder);
  const create = pack(join(root, "create-agentensemble"), folder);
  output(folder, "npm", ["install", ...FLAGS, "--prefix", join(folder, "tool"), create]);
  const program = join(folder, "tool/node_modules/create-agentensemble/index.js");
  const templates = readdirSync(join(root, "create-agentensemble/templates"));
  for (const template of templates.filter((name) => name !== "base")) {
    const project = join(folder, template);
    const started = performance.now();
    output(folder, process.execPath, [program, project, "--template", template, "--use", main]);
    output(project, "npm", ["install", ...FLAGS]);
    const installed = performance.now();
    output(project, "npm", ["test"]);
    const tested = performance.now();
    await startProject(project, SERVERS[template]);
    const size = output(project, "du", ["-sm", "node_modules"]).split("\t")[0];
    const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
    console.log(
      `${template}: created and installed in ${seconds(started, installed)} s (${size} MB), tests in ${seconds(installed, tested)} s, start in ${seconds(tested, performance.now())} s`,
    );
  }
});
