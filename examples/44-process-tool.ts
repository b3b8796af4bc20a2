// A script as a tool, and git in a workspace. Programs run without a shell and within limits. Only
// read-only commands run without approval.
// Run it: npm run example -- 44
// Without a key, a scripted model calls the tools. The programs are real.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Ensemble, Task } from "agentensemble";
import { gitTool, processTool, runCommand } from "agentensemble/tools";
import { realOrScripted } from "./support/scripted.js";

/**
 * A program in any language can be a tool. It reads {"input": "..."} and prints text or {"output":
 * ..., "structured": ...}.
 */
const WORD_COUNT = `
import { readFileSync } from "node:fs";
const { input } = JSON.parse(readFileSync(0, "utf8"));
const words = input.split(/\\s+/).filter(Boolean).length;
console.log(JSON.stringify(words === 0 ? { success: false, error: "there is no text" } : { output: words + " words", structured: { words } }));
`;

const workspace = await mkdtemp(join(tmpdir(), "process-tool-"));
const script = join(workspace, "word-count.mjs");
await writeFile(script, WORD_COUNT);
await runCommand({ command: ["git", "init", "--quiet"], cwd: workspace });

const wordCount = processTool({
  name: "word_count",
  description: "Counts the words of a text. The input is the text.",
  command: [process.execPath, script],
  timeoutMs: 5_000,
  effect: "read",
});
const git = gitTool({ baseDir: workspace, allow: ["status", "diff", "log"] });

const { model, name, note } = realOrScripted([
  {
    toolCalls: [
      {
        name: "word_count",
        arguments: { input: "Swifts sleep in the air; $(rm -rf /) is just text here" },
      },
      { name: "word_count", arguments: { input: " " } },
      { name: "git", arguments: { command: "status", args: ["--short"] } },
      { name: "git", arguments: { command: "log", args: ["--output=/tmp/stolen"] } },
      { name: "git", arguments: { command: "diff", paths: ["../../etc/passwd"] } },
    ],
  },
  "The text has 12 words, and word-count.mjs is not under version control yet.",
]);
console.log(`Model: ${name} (${note})\n`);

try {
  const clerk = new Agent({ role: "Clerk", goal: "Answer exactly", tools: [wordCount, git] });
  const output = await new Ensemble({
    model,
    tasks: [
      new Task({
        description:
          "How many words has 'Swifts sleep in the air; $(rm -rf /) is just text here'? Which files are not under version control?",
        agent: clerk,
      }),
    ],
    onToolCall: ({ toolName, toolArguments, toolResult }) =>
      console.log(`${toolName} ${toolArguments}\n  -> ${toolResult}`),
  }).run();
  console.log(`\n${output.raw}`);

  const late = await runCommand({ command: ["sh", "-c", "sleep 60 & sleep 61"], timeoutMs: 300 });
  console.log(
    `\nA program that takes too long: timedOut ${late.timedOut}, still running: ${late.leftRunning.length}`,
  );
} finally {
  await rm(workspace, { recursive: true });
}
