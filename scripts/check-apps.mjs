// Installs each program of examples/apps with its lock file and the packed package. Builds and
// starts each program, and sends a request. Not a test, because packages come from npm. Needs a
// build. Arguments select programs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inTemporaryFolder, output, packed, root } from "./packed-project.mjs";

const FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund"];
const STARTED_MS = 120_000;
const TOKEN = "a token of this check";
const all = readdirSync(`${root}examples/apps`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const chosen = process.argv.length > 2 ? process.argv.slice(2) : all;

/** Returns a free port. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Sends a request when the program listens. @throws Error if the program ends before, or takes too
 * long.
 */
async function ask(port, child, headers) {
  const until = performance.now() + STARTED_MS;
  for (;;) {
    try {
      return await fetch(`http://127.0.0.1:${port}/api/run`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ question: "What does a lamp cost?" }),
      });
    } catch (error) {
      assert.equal(child.exitCode, null, "the program has ended");
      if (performance.now() > until) throw error;
      await pause(100);
    }
  }
}

async function check(folder, archive, app) {
  const project = join(folder, app);
  const started = performance.now();
  cpSync(`${root}examples/apps/${app}`, project, {
    recursive: true,
    filter: (path) => !/(?:node_modules|dist|\.next)$/.test(path),
  });
  // Not `npm ci`: a registry may lack packages of other systems. The lock file then also lacks
  // them.
  output(project, "npm", ["install", "--no-save", ...FLAGS, archive]);
  const built = output(project, "npm", ["run", "build"], { NEXT_TELEMETRY_DISABLED: "1" });
  assert.doesNotMatch(built.replaceAll(/^npm warn .*$/gm, ""), /\bwarn(?:ing)?\b/i);
  const port = await freePort();
  const child = spawn("npm", ["start"], {
    cwd: project,
    detached: true,
    stdio: "inherit",
    env: { ...process.env, OPENAI_API_KEY: undefined, APP_TOKEN: TOKEN, PORT: String(port) },
  });
  const ended = once(child, "exit");
  try {
    const refused = await ask(port, child, {});
    assert.equal(refused.status, 401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await (await ask(port, child, headers)).json();
    assert.equal(answer.output?.exitReason, "COMPLETED", JSON.stringify(answer));
    assert.match(answer.output.raw, app === "nestjs" ? /89/ : /swift/);
    const stream = await ask(port, child, { ...headers, accept: "text/event-stream" });
    assert.match(await stream.text(), /"type":"finish".*data: \[DONE\]\n\n$/s);
  } finally {
    if (child.exitCode === null) process.kill(-child.pid, "SIGTERM"); // npm and its child processes
    await ended;
  }
  console.log(`${app}: ok in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

await inTemporaryFolder(async (folder) => {
  const archive = packed(folder);
  for (const app of chosen) await check(folder, archive, app);
});
