import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryFolder } from "../../support/temporary-folder.js";

const url = (specifier: string): string => JSON.stringify(import.meta.resolve(specifier));
const SOURCES = "../../../src/plugins";

/** Registers every suite, and returns the number of tests of each. */
const SUITES = `import { MemoryStore, Task, ToolResult, tool } from ${url("agentensemble")};
import * as suites from ${url("agentensemble/testing")};
import { sequentialWorkflow } from ${url(`${SOURCES}/workflows/sequential/sequential-workflow.js`)};
import { HandlerExecutor } from ${url(`${SOURCES}/agents/handler/handler-executor.js`)};

suites.toolContract("echo", {
  create: () => tool({ name: "echo", description: "Echoes", execute: (text) => ToolResult.success(text) }),
  valid: ["a", "b"],
});
suites.memoryStoreContract("in memory", { create: async () => ({ store: MemoryStore.inMemory() }) });
suites.workflowContract("SEQUENTIAL", { create: () => sequentialWorkflow });
suites.taskExecutorContract("handler", {
  create: () => new HandlerExecutor(),
  task: new Task({ description: "x", handler: () => "done" }),
  failing: new Task({ description: "x", handler: () => { throw new Error("no"); } }),
});
suites.traceExporterContract("nowhere", { create: () => ({ exporter: () => undefined }) });
suites.chatModelContract("none", { create: async () => { throw new Error("no such model"); } });
`;

/** Collects tests like a minimal runner, and runs those of suites that must pass. */
const LEAST_RUNNER = `const tests = [];
const path = [];
globalThis.describe = (title, body) => { path.push(title); body(); path.pop(); };
globalThis.it = (title, body) => { tests.push([[...path, title].join(" > "), body]); };
await import("./suites.mjs");
let passed = 0;
for (const [title, body] of tests) {
  if (title.startsWith("chat model")) continue;
  try { await body(); passed++; } catch (error) { console.log("failed: " + title + ": " + error.message); }
}
console.log(JSON.stringify({ passed, suites: new Set(tests.map(([title]) => title.split(" contract")[0])).size }));
`;

/** Runs the suites that pass with the runner of Node.js. */
const NODE_RUNNER = `import { describe, it } from "node:test";
globalThis.describe = (title, body) => title.startsWith("chat model") ? undefined : describe(title, body);
globalThis.it = it;
await import("./suites.mjs");
`;

async function output(folder: string, args: readonly string[]): Promise<string> {
  const { NODE_TEST_CONTEXT: _ours, NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await once(child, "close");
  return text;
}

describe("the contract suites", () => {
  let folder: string;
  before(() => {
    folder = temporaryFolder();
    for (const [name, text] of Object.entries({ SUITES, LEAST_RUNNER, NODE_RUNNER }))
      writeFileSync(join(folder, `${name.toLowerCase().replace("_", "-")}.mjs`), text);
  });

  it("run under a runner with only describe and it", async () => {
    const text = await output(folder, ["least-runner.mjs"]);
    expect(text).not.to.include("failed");
    const { passed, suites } = JSON.parse(text) as { readonly passed: number; suites: number };
    expect(passed).to.be.greaterThan(40);
    expect(suites).to.equal(6);
  });

  it("run under node:test", async () => {
    const text = await output(folder, ["--test", "--test-reporter=tap", "node-runner.mjs"]);
    expect(text).to.match(/# pass (?:[4-9]\d|\d{3,})\n/);
    expect(text).to.include("# fail 0\n");
  });
});
