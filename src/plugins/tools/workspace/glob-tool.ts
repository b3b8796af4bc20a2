import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { FolderJail } from "../shared/path-jail.js";
import type { PathTest } from "./path-pattern.js";
import type { WalkEnd, WalkRules } from "./walk.js";
import type { WorkspaceOptions } from "./workspace-options.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { toolArguments } from "../shared/arguments.js";
import { folderJail } from "../shared/path-jail.js";
import { toFailure } from "../shared/tool-failure.js";
import { compileGlob } from "./path-pattern.js";
import { Walk } from "./walk.js";
import { WorkLimit } from "./work-limit.js";
import { resolveWorkspaceOptions, WORKSPACE_FIELDS } from "./workspace-options.js";

/** Options of {@link globTool}. */
export interface GlobToolOptions extends WorkspaceOptions {
  /** Limit of the number of paths, in alphabetical order. Default 200. */
  readonly maxResults?: number | undefined;
}

/** Arguments of `glob`. */
export interface GlobInput {
  readonly pattern: string;
  /** Folder to search. Default: the whole folder. */
  readonly path?: string | undefined;
}

const ARGUMENTS = toolArguments({
  properties: {
    pattern: {
      type: "string",
      description:
        "* and ? stay within a name, ** crosses folders, {a,b} is either, [abc] one of these.",
      examples: ["**/*.{ts,tsx}"],
    },
    path: { type: "string", description: "A folder to look in. Default: all.", examples: ["src"] },
  },
  required: ["pattern"],
});

const DESCRIPTION =
  'Finds files by their path, one per line in the result. What .gitignore names is left out. Example: {"pattern": "**/*.test.ts", "path": "src"}.';

interface GlobSettings {
  readonly jail: FolderJail;
  readonly rules: WalkRules;
  readonly timeLimitMs: number;
  readonly maxResults: number;
}

/** Returns the test of a pattern, which may be relative to the searched folder or to the root. */
function matcher(paths: PathTest, start: string): (path: string) => boolean {
  return (path) => paths.test(path) || (start !== "" && paths.test(path.slice(start.length + 1)));
}

function listedPaths(
  paths: readonly string[],
  end: WalkEnd,
  pattern: string,
  maxResults: number,
): ToolResult {
  const shown = [...paths].sort().slice(0, maxResults);
  const notes = [
    ...(paths.length > shown.length
      ? [`... (results capped at ${maxResults} of ${paths.length} files)`]
      : []),
    ...(end === "too-many"
      ? ["... (the folder is too large, not all of it was looked at; give a path)"]
      : []),
    ...(end === "time" ? ["... (the time was up, not all was looked at; give a path)"] : []),
  ];
  const found = shown.length === 0 ? [`No files found matching pattern: ${pattern}`] : shown;
  return ToolResult.success([...found, ...notes].join("\n"), {
    paths: shown,
    total: paths.length,
    complete: end === "complete" && shown.length === paths.length,
  });
}

async function findPaths(
  { jail, rules, timeLimitMs, maxResults }: GlobSettings,
  pattern: string,
  path: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const inRoot = pattern.startsWith(`${jail.root}/`)
    ? pattern.slice(jail.root.length + 1)
    : pattern.replace(/^(\.?\/)+/, "");
  if (inRoot.split("/").includes("..")) return toFailure(jail.base.errors.outside());
  const compiled = await compileGlob(inRoot);
  if (!compiled.ok) return ToolResult.failure(`Invalid glob pattern: ${compiled.problem}`);
  const start = (await jail.base.place(path)).relativePath;
  const matches = matcher(compiled.paths, start);
  const paths: string[] = [];
  const limit = new WorkLimit(signal, timeLimitMs);
  try {
    const walk = new Walk(jail, rules, limit, async (file) => {
      if (matches(file.path)) paths.push(file.path);
      await limit.spend(file.path.length * compiled.paths.cost);
      return true;
    });
    return listedPaths(paths, await walk.from(path), pattern, maxResults);
  } finally {
    limit.dispose();
  }
}

/**
 * Creates a tool `glob` that finds files of one folder by a pattern. Does not follow links. Returns
 * paths relative to the folder, in alphabetical order.
 *
 * @throws ValidationError if the folder does not exist, or for an invalid option.
 */
export function globTool(options: GlobToolOptions): Tool<GlobInput> {
  checkOptions("globTool()", options, [...WORKSPACE_FIELDS, "maxResults"]);
  requireInteger("globTool() maxResults", options.maxResults, 1);
  const resolved = resolveWorkspaceOptions("globTool()", options);
  const jail = folderJail(options.baseDir, { name: "workspace" });
  const settings = { ...resolved, jail, maxResults: options.maxResults ?? 200 };
  const execute = async (input: GlobInput, { signal }: ToolContext): Promise<ToolResult> => {
    const read = await ARGUMENTS.read(input);
    if (!read.ok) return ToolResult.failure(read.problem);
    const pattern = read.value.pattern.trim();
    if (pattern === "") return ToolResult.failure("Pattern must not be blank");
    const path = read.value.path?.trim() ?? "";
    try {
      return await findPaths(settings, pattern, path === "" ? "." : path, signal);
    } catch (e) {
      if (signal.aborted) throw signal.reason;
      return toFailure(jail.base.errors.system("read", path, e));
    }
  };
  return tool({
    name: "glob",
    description: DESCRIPTION,
    input: ARGUMENTS.input,
    effect: "read",
    untrusted: true,
    execute,
  });
}
