// Compares a task in this package and in four others. The task has two lookups by a tool, a checked
// value and a letter. Installs bench/compare with its lock file and the packed package in a
// temporary folder. Compiles the programs, runs each with one simulated vendor on loopback, and
// prints calls, tokens and lines. `--write` updates the table in docs/comparison.md. The names in
// the table of features of that page are the names in src/features.ts. Needs a build. Other
// packages need Node.js 22, which comes from npm. Run it: npm run ci:full -- compare
import assert from "node:assert/strict";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { estimateTokenCount } from "tokenx";
import { inTemporaryFolder, output, packed, root } from "./packed-project.mjs";

const FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund"];
const LETTER = "Dear customer, two lamps and one table cost 418.50 euros.";
const TITLES = {
  agentensemble: "AgentEnsemble",
  "ai-sdk": "AI SDK",
  langgraph: "LangGraph",
  mastra: "Mastra",
  "openai-agents": "OpenAI Agents",
};
const PACKAGES = {
  "ai-sdk": "ai",
  langgraph: "@langchain/langgraph",
  mastra: "@mastra/core",
  "openai-agents": "@openai/agents",
};

/**
 * Returns the answer of a model: it looks up both prices in one turn, adds them, and writes the
 * letter.
 */
function replyTo({ messages, tools, response_format: format }) {
  const looked = messages.filter(({ role }) => role === "tool");
  if (tools !== undefined && looked.length === 0)
    return {
      content: null,
      tool_calls: ["lamp", "table"].map((item) => ({
        id: `call_${item}`,
        type: "function",
        function: { name: "look_up_price", arguments: JSON.stringify({ item }) },
      })),
    };
  if (looked.length === 0 && format === undefined) return { content: LETTER };
  assert.deepEqual(
    looked.map(({ content }) => JSON.stringify(content).match(/[\d.]+(?= euros)/)?.[0]),
    ["89", "240.5"],
  );
  return { content: '{"euros":418.5}' };
}

/**
 * Starts the vendor. `calls` has the requests in order. Input tokens are estimated from messages,
 * tools and format of a request.
 */
async function startVendor() {
  const calls = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    try {
      assert.match(request.url, /\/chat\/completions$/);
      assert.notEqual(body.stream, true);
      const { messages, tools, response_format: format } = body;
      const input = estimateTokenCount(JSON.stringify({ messages, tools, format }));
      const message = { role: "assistant", ...replyTo(body) };
      const out = estimateTokenCount(JSON.stringify(message));
      calls.push({ input, out });
      response.setHeader("content-type", "application/json").end(
        JSON.stringify({
          ...{ id: "r", object: "chat.completion", created: 1, model: body.model },
          choices: [
            { index: 0, message, finish_reason: message.tool_calls ? "tool_calls" : "stop" },
          ],
          usage: { prompt_tokens: input, completion_tokens: out, total_tokens: input + out },
        }),
      );
    } catch (error) {
      calls.push({ error });
      response.writeHead(400).end(JSON.stringify({ error: { message: String(error) } }));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { calls, url: `http://127.0.0.1:${server.address().port}/v1`, server };
}

/** @throws AssertionError if the table of features has a name that `features.ts` does not use. */
function checkFeatures(folder) {
  const used = readFileSync(join(folder, "src/features.ts"), "utf8");
  const page = readFileSync(`${root}docs/comparison.md`, "utf8");
  const rows = page.slice(page.indexOf("## Features")).match(/^\| [a-z].*$/gm);
  const names = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  assert.ok(names.length > 30);
  assert.deepEqual(
    names.filter((name) => !new RegExp(`\\b${name}\\b`).test(used)),
    [],
  );
}

/** Returns the number of lines that are neither blank nor a comment. */
const linesOf = (file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length;

/**
 * Runs a program of the comparison. @throws AssertionError for a result that differs from the
 * expected result.
 */
async function measure(folder, node, name) {
  const { calls, url, server } = await startVendor();
  const guard = `--require=${root}dist/test/support/loopback-only.js`;
  const child = spawn(node, [`dist/${name}.js`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      ...{ OPENAI_BASE_URL: url, OPENAI_API_KEY: "none", MASTRA_TELEMETRY_DISABLED: "1" },
      ...{ NODE_OPTIONS: guard, NO_PROXY: "*" },
    },
  });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  server.close();
  assert.equal(code, 0, name);
  assert.deepEqual(JSON.parse(printed.trim().split("\n").at(-1)), { euros: 418.5, letter: LETTER });
  for (const { error } of calls) assert.equal(error, undefined, name);
  const version = JSON.parse(
    readFileSync(join(folder, "node_modules", PACKAGES[name] ?? name, "package.json"), "utf8"),
  ).version;
  return {
    name: `${TITLES[name]} ${version}`,
    calls: calls.length,
    input: calls.reduce((sum, { input }) => sum + input, 0),
    output: calls.reduce((sum, { out }) => sum + out, 0),
    lines: linesOf(join(folder, `src/${name}.ts`)),
  };
}

await inTemporaryFolder(async (folder) => {
  const project = join(folder, "compare");
  cpSync(`${root}bench/compare`, project, { recursive: true });
  output(project, "npm", ["install", "--no-save", ...FLAGS, packed(folder)]);
  output(project, "node_modules/.bin/tsc", []);
  checkFeatures(project);
  const names = readdirSync(join(project, "src"))
    .map((file) => file.replace(/\.ts$/, ""))
    .filter((name) => name in TITLES);
  assert.deepEqual(names.sort(), Object.keys(TITLES).sort());
  const node = output(project, "npx", ["--yes", "node@22", "-p", "process.execPath"]).match(
    /^\/.*$/m,
  )[0];
  const rows = [];
  for (const name of names) rows.push(await measure(project, node, name));
  console.table(rows);
  if (!process.argv.includes("--write")) return;
  const table = [
    "| | calls | input tokens | output tokens | lines |",
    "|---|---|---|---|---|",
    ...rows.map((r) => `| ${r.name} | ${r.calls} | ${r.input} | ${r.output} | ${r.lines} |`),
  ].join("\n");
  const page = `${root}docs/comparison.md`;
  const before = readFileSync(page, "utf8");
  writeFileSync(page, before.replace(/^\| \| calls [^]*?\n(?=\n)/m, `${table}\n`));
});
