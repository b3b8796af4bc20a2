// Runs the contract suites of `agentensemble/testing` and a test with `expectScore` in a project
// with the installed package. Uses vitest, Jest, node:test and mocha, and mocha in Bun and Deno.
// Then runs the tests of the core in Bun and Deno. Needs a build: the chat model's server is the
// server of the tests.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { inTemporaryFolder, installPacked, output, root } from "./packed-project.mjs";

const support = (file) => JSON.stringify(`${root}dist/test/support/${file}.js`);

/** Suites for the exports of the package, and for its bindings. A plugin reads the bindings. */
const SUITES = `import { MemoryStore, openai, Task, Tokens, ToolResult, tool } from "agentensemble";
import * as suites from "agentensemble/testing";
import { loopbackReply } from ${support("contract-replies")};
import { OpenAIServer } from ${support("openai-server")};
import { streamEvent } from ${support("openai-wire")};

let workflows, executors;
const start = (ctx) => {
  workflows = ctx.all(Tokens.WorkflowExecutor);
  executors = ctx.all(Tokens.TaskExecutor);
};
const kernel = suites.testKernel([{ name: "look", start }]);
await kernel.boot();
await kernel.dispose();
const task = new Task({ description: "x", handler: () => "done" });
const reasons = ["stop", "length", "content_filter", "tool_calls"];
const words = {
  finishReasons: Object.fromEntries(reasons.map((reason) => [reason, reason])),
  usage: ({ inputTokens = 0, outputTokens = 0 }) => ({ prompt_tokens: inputTokens, completion_tokens: outputTokens }),
  begin: (text) => [streamEvent({ role: "assistant", content: text })],
};

suites.chatModelContract("openai", {
  create: async (scenario) => {
    const server = await OpenAIServer.start(loopbackReply(scenario, words));
    return {
      model: openai("gpt-4o-mini", { apiKey: "sk-test-key", baseURL: server.url }),
      lastRequest: () => server.requests.at(-1)?.body,
      close: () => server.close(),
    };
  },
});
suites.toolContract("echo", {
  create: () => tool({ name: "echo", description: "Echoes", execute: (text) => ToolResult.success(text) }),
  valid: ["a", "b"],
});
suites.memoryStoreContract("in memory", { create: async () => ({ store: MemoryStore.inMemory() }), shared: true });
suites.workflowContract("SEQUENTIAL", { create: () => workflows.find(({ name }) => name === "SEQUENTIAL") });
suites.taskExecutorContract("handler", {
  create: () => executors.find((executor) => executor.handles({ task })),
  task,
  failing: new Task({ description: "x", handler: () => { throw new Error("no"); } }),
});
suites.traceExporterContract("nowhere", { create: () => ({ exporter: () => undefined }) });
`;
/** Scores of evaluations as tests, with scorers of the package `autoevals`. */
const SCORES = `import assert from "node:assert/strict";
import { evaluate, exact, expectScore, fromAutoevals } from "agentensemble/evals";
import { ExactMatch, Levenshtein } from "autoevals";

const dataset = [{ input: "abcd", expected: "abcd" }, { input: "abce", expected: "abcd" }];
const scorers = [exact(), fromAutoevals(ExactMatch), fromAutoevals(Levenshtein)];
const evaluation = () => evaluate({ name: "echo", target: (text) => text, dataset, scorers });

describe("expectScore()", () => {
  it("passes where a score is high enough", async () => {
    await expectScore(evaluation(), "Levenshtein", { atLeast: 0.875 });
    await expectScore(evaluation(), "ExactMatch", { atLeast: 0.5 });
  });
  it("fails where a score is too low", async () => {
    await assert.rejects(expectScore(evaluation(), "exact", { atLeast: 0.6 }), /exact is 50.0 %/);
  });
});
`;
const FILES = {
  "suites.test.mjs": SUITES,
  "scores.test.mjs": SCORES,
  "with-node.mjs": `import { describe, it } from "node:test";
Object.assign(globalThis, { describe, it });
await import("./suites.test.mjs");
await import("./scores.test.mjs");
`,
  "vitest.config.mjs": `export default { test: { globals: true, include: ["*.test.mjs"], testTimeout: 60_000 } };\n`,
  "jest.config.mjs": `export default { testMatch: ["<rootDir>/*.test.mjs"], testTimeout: 60_000, transform: {}, testEnvironment: "node" };\n`,
};
/** Arguments of Node.js for each runner, and the pattern of the passed tests in its report. */
const RUNNERS = [
  [
    "mocha",
    ["node_modules/mocha/bin/mocha.js", "suites.test.mjs", "scores.test.mjs"],
    /(\d+) passing/,
  ],
  ["vitest", ["node_modules/vitest/vitest.mjs", "run"], /Tests +(\d+) passed/],
  [
    "Jest",
    ["--experimental-vm-modules", "node_modules/jest/bin/jest.js"],
    /Tests: +(\d+) passed, \1 total/,
  ],
  ["node:test", ["--test", "--test-reporter=tap", "with-node.mjs"], /# pass (\d+)/],
];

/**
 * Programs of other runtimes below `node_modules`. Each has the arguments that run a script with
 * imports of the sources, and the script that installs the program.
 */
const RUNTIMES = [
  ["Bun", "bun/install.js", ".bin/bun", ["--conditions=agentensemble-source"]],
  [
    "Deno",
    "deno/install.cjs",
    "deno/deno",
    [
      "run",
      "--allow-all",
      "--no-prompt",
      "--node-modules-dir=manual",
      "--conditions=agentensemble-source",
    ],
  ],
];
const CORE = [
  ...["kernel", "contracts", "engine", "ensemble"],
  ...["plugins/agents", "plugins/workflows", "plugins/guardrails"],
];
/** Tests that inspect the memory of V8 with its tools. */
const ONLY_NODE = ["dist/test/engine/leaks.test.js"];
const coreTests = CORE.flatMap((part) =>
  readdirSync(`${root}dist/test/${part}`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.js"))
    .map((file) => `dist/test/${part}/${file}`),
).filter((file) => !ONLY_NODE.includes(file));

await inTemporaryFolder((folder) => {
  installPacked(
    folder,
    ["vitest@4", "jest@30", "mocha@11", "bun@1", "deno@2", "autoevals@0.3"],
    FILES,
  );
  const environment = { NO_COLOR: "1", FORCE_COLOR: "0", CI: "1" };
  /** Runs tests and returns the number of passed tests. */
  const run = (what, cwd, program, args, report) => {
    const count = Number(report.exec(output(cwd, program, args, environment))?.[1] ?? 0);
    console.log(`${what}: ${count} tests passed`);
    return count;
  };
  const counts = RUNNERS.map(([name, args, report]) =>
    run(`contract suites, ${name}`, folder, process.execPath, args, report),
  );
  for (const [name, install, program, args] of RUNTIMES) {
    const at = (path) => join(folder, "node_modules", path);
    output(folder, process.execPath, [at(install)]);
    const mocha = [...args, `${root}scripts/core-suite.mjs`];
    const passing = /(\d+) passing/;
    counts.push(
      run(
        `contract suites, ${name}`,
        folder,
        at(program),
        [...mocha, "suites.test.mjs", "scores.test.mjs"],
        passing,
      ),
    );
    assert.ok(run(`core, ${name}`, root, at(program), [...mocha, ...coreTests], passing) > 1_000);
  }
  assert.ok((counts[0] ?? 0) > 100, "the suites have tests");
  assert.equal(new Set(counts).size, 1, "each runner and each runtime runs all of them");
});
