// An agent with the tools of an MCP server. The server is a third-party file server in a child
// process, with access to one directory. The agent receives only the tools that it needs.
// Run it: npm run example -- 47
import { createRequire } from "node:module";
import { Agent, Ensemble, Task } from "agentensemble";
import { mcpTools } from "agentensemble/mcp";
import { realOrScripted } from "./support/scripted.js";

/**
 * The path of the server, if it is installed. `npx` would also find the server, and download it if
 * necessary.
 */
function serverProgram(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(
      "@modelcontextprotocol/server-filesystem/dist/index.js",
    );
  } catch {
    return undefined;
  }
}

const program = serverProgram();
if (program === undefined) {
  console.log(
    "Skipped: this example needs a server. Run: npm install --save-dev @modelcontextprotocol/server-filesystem",
  );
  process.exit();
}

const directory = "examples/data";

const { model, name, note } = realOrScripted([
  { toolCalls: [{ name: "files__list_directory", arguments: { path: "." } }] },
  { toolCalls: [{ name: "files__read_text_file", arguments: { path: "prompt-injection.md" } }] },
  { toolCalls: [{ name: "files__read_text_file", arguments: { path: "/etc/hostname" } }] },
  "Text that a tool brings in can hold instructions.",
]);
console.log(`Model: ${name} (${note})\n`);

await using files = mcpTools({
  name: "files",
  command: process.execPath,
  args: [program, directory],
  tools: ["list_directory", "read_text_file"],
  timeoutMs: 10_000,
});
for (const { name: tool, effect, untrusted } of await files.resolve())
  console.log(`${tool}: effect ${effect}, untrusted ${untrusted}`);

const librarian = new Agent({ role: "Librarian", goal: "Answer from the files", tools: [files] });
await using team = new Ensemble({
  model,
  tasks: [
    new Task({
      description: "What do the files in '.' say about prompt injection?",
      agent: librarian,
    }),
  ],
  onToolCall: ({ toolName, toolResult }) =>
    console.log(
      `${toolName} -> ${toolResult.replaceAll(process.cwd(), "").replaceAll("\n", " ").slice(0, 90)}`,
    ),
});
console.log(`\n${(await team.run()).raw}`);
