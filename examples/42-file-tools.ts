// An agent that works in one folder and can't leave it. It searches, reads, writes and edits files.
// A path outside the folder is refused, and the agent receives the refusal. The program also
// defines a custom tool with the same jail.
// Run it: npm run example -- 42
// Without a key, a scripted model calls the tools. The tools are real.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccessDeniedError, Agent, Ensemble, Task, tool } from "agentensemble";
import {
  codeEditTool,
  codeSearchTool,
  fileReadTool,
  fileWriteTool,
  globTool,
  pathJail,
} from "agentensemble/tools";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const baseDir = await mkdtemp(join(tmpdir(), "file-tools-"));
await writeFile(
  join(baseDir, "server.ts"),
  'const host = "localhost";\nconst port = 80;\n\nlisten(host, port);\n',
);

const editor = new Agent({
  role: "Editor",
  goal: "Change files as asked, and nothing else",
  tools: [
    globTool({ baseDir }),
    codeSearchTool({ baseDir }),
    fileReadTool({ baseDir }),
    codeEditTool({ baseDir }),
    fileWriteTool({ baseDir }),
  ],
});

const { model, name, note } = realOrScripted([
  { toolCalls: [{ name: "glob", arguments: { pattern: "**/*.ts" } }] },
  { toolCalls: [{ name: "code_search", arguments: { pattern: "port\\s*=", contextLines: 1 } }] },
  {
    toolCalls: [
      {
        name: "code_edit",
        arguments: {
          path: "server.ts",
          command: "find_replace",
          find: "port = 80;",
          content: "port = 8080;",
        },
      },
    ],
  },
  { toolCalls: [{ name: "file_read", arguments: { path: "../../etc/passwd" } }] },
  {
    toolCalls: [
      {
        name: "file_write",
        arguments: { path: "notes/changes.md", content: "- The port is now 8080.\n" },
      },
    ],
  },
  "The server listens on port 8080 now; notes/changes.md says so.",
]);
console.log(`Model: ${name} (${note})\n`);

const output = await new Ensemble({
  model,
  tasks: [
    new Task({
      description: "Let the server listen on port 8080, and note the change in notes/changes.md.",
      agent: editor,
    }),
  ],
  onToolCall: ({ toolName, toolArguments, toolResult }) =>
    console.log(`${toolName} ${toolArguments}\n  ${toolResult.replaceAll("\n", "\n  ")}`),
  onFileChanged: ({ filePath, changeType, linesAdded, linesRemoved }) =>
    console.log(`[${changeType} ${filePath} +${linesAdded} -${linesRemoved}]`),
}).run();
console.log(`\n${output.raw}\n`);

// A custom tool. The jail opens or refuses each path of the model.
const jail = pathJail(baseDir);
const countLines = tool({
  name: "count_lines",
  description: 'How many lines a file has. Example: {"path": "server.ts"}.',
  input: z.object({ path: z.string() }),
  execute: async ({ path }, { signal }) => {
    const { bytes } = await jail.read(path, { signal });
    return `${Buffer.from(bytes).toString("utf8").split("\n").length - 1} lines`;
  },
});

const counting = new Ensemble({
  model: realOrScripted([
    { toolCalls: [{ name: "count_lines", arguments: { path: "server.ts" } }] },
    "It has 4 lines.",
  ]).model,
  tasks: [new Task({ description: "How many lines has server.ts?", tools: [countLines] })],
  onToolCall: ({ toolName, toolArguments, toolResult }) =>
    console.log(`${toolName} ${toolArguments} -> ${toolResult}`),
});
console.log((await counting.run()).raw);
for (const path of ["../secret", "/etc/passwd", "~/../../x", "a\0b"]) {
  const refused = await jail.read(path).catch((error: unknown) => error);
  console.log(
    `  ${JSON.stringify(path)}: ${AccessDeniedError.isInstance(refused) ? refused.message : "no such file"}`,
  );
}
await rm(baseDir, { recursive: true });
