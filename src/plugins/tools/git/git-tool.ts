import type { Tool } from "../../../contracts/tool.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import type { ToolArguments } from "../shared/arguments.js";
import { toolArguments } from "../shared/arguments.js";
import type { GitRequest } from "./git-arguments.js";
import { readGitRequest } from "./git-arguments.js";
import { GIT_COMMANDS } from "./git-commands.js";
import type { GitToolOptions } from "./git-options.js";
import { resolveGitOptions } from "./git-options.js";
import { GitRunner } from "./git-runner.js";

const ARGUMENTS = toolArguments({
  properties: {
    command: { type: "string", description: "The git command.", examples: ["status", "diff"] },
    args: {
      type: "array",
      items: { type: "string" },
      maxItems: 100,
      description: "Its options, branches and revisions, one per entry, without quotes.",
      examples: [
        ["--stat", "HEAD~1"],
        ["-b", "fix-login"],
      ],
    },
    paths: {
      type: "array",
      items: { type: "string" },
      maxItems: 1000,
      description: "Files and folders in the workspace, literally: no patterns.",
      examples: [["src/index.ts"]],
    },
    message: {
      type: "string",
      description: "The message of a commit, merge, tag or stash.",
      examples: ["Fix the login form"],
    },
  },
  required: ["command"],
});

const DESCRIPTION = `Runs git in the workspace: to see what has changed, commit, and work with branches.
Example: {"command": "diff", "args": ["--stat", "HEAD~1"], "paths": ["src"]} or {"command": "commit", "args": ["-a"], "message": "Fix the login form"}.`;

/**
 * The schema for the model lists the commands. The tool's own message reports an unknown command.
 */
function inputFor(allow: readonly string[]): ToolArguments<GitRequest>["input"] {
  const { schema, jsonSchema } = ARGUMENTS.input;
  // as declared above
  const properties = jsonSchema["properties"] as Readonly<Record<string, object>>;
  return {
    schema,
    jsonSchema: {
      ...jsonSchema,
      properties: { ...properties, command: { ...properties["command"], enum: [...allow] } },
    },
  };
}

/** Returns the strongest effect of the allowed commands. */
function effectOf(allow: readonly string[]): "read" | "write" | "send" {
  const specs = [...GIT_COMMANDS]
    .filter(([name]) => allow.includes(name.replace(/ .*/, "")))
    .map(([, spec]) => spec);
  if (specs.some(({ remote }) => remote)) return "send";
  return specs.every(({ reads }) => reads === true) ? "read" : "write";
}

function gitCommandLine({ command, args = [], paths = [], message }: GitRequest): string {
  const shown = [
    command,
    ...args,
    ...(message === undefined ? [] : ["--message", message]),
    ...(paths.length === 0 ? [] : ["--", ...paths]),
  ];
  return shown
    .map((part) => (/^[\w./:@=,~^+{}-]+$/.test(part) ? part : JSON.stringify(part)))
    .join(" ");
}

/**
 * Creates the tool `git`, with which an agent works in one working tree. Commands: status, diff,
 * log, show, commit, add, branch, stash, checkout, push, reset, rebase, clean, tag, merge, fetch,
 * pull. Accepts only listed options, so none can run a program or reach another location. Runs no
 * hook, pager, editor or helper of the repository. Rejects paths outside the tree. By default all
 * commands that change something need approval.
 *
 * @throws ValidationError for invalid options, or a `baseDir` that is not a folder
 */
export function gitTool(options: GitToolOptions): Tool<GitRequest> {
  const settings = resolveGitOptions(options);
  const { allow, requireApproval } = settings;
  const runner = new GitRunner(settings);
  return tool<GitRequest>({
    name: "git",
    description: DESCRIPTION,
    input: inputFor(allow),
    sequential: true, // two concurrent calls would collide on git's lock
    requireApproval,
    untrusted: true,
    effect: effectOf(allow),
    effectOf: (input) => {
      const read = readGitRequest(input, allow);
      // a rejected call has no effect
      return !read.ok || read.call.reads ? "read" : effectOf([input.command]);
    },
    needsApproval: (input) => {
      const read = readGitRequest(input, allow);
      // a rejected call does not run and needs no approval
      return requireApproval && read.ok && !read.call.reads;
    },
    approvalDescription: (input) => `Execute git ${gitCommandLine(input)}`,
    approvalRejection: ({ command }) => `Git operation rejected by reviewer: git ${command}`,
    async execute(input, { signal }) {
      const given = await ARGUMENTS.read(input);
      if (!given.ok) return ToolResult.failure(given.problem);
      const read = readGitRequest(given.value, allow);
      return read.ok ? runner.run(read.call, signal) : ToolResult.failure(read.problem);
    },
  });
}
