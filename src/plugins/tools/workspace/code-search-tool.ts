import type { RE2JS } from "re2js";
import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { FolderJail } from "../shared/path-jail.js";
import type { FoundLine } from "./line-search.js";
import type { CompiledGlob, PathTest } from "./path-pattern.js";
import type { WalkedFile, WalkEnd, WalkRules } from "./walk.js";
import type { WorkspaceOptions } from "./workspace-options.js";
import { FileAccessError } from "../../../contracts/state-errors.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { toolArguments } from "../shared/arguments.js";
import { folderJail } from "../shared/path-jail.js";
import { toFailure } from "../shared/tool-failure.js";
import { renderFound, searchText } from "./line-search.js";
import { compileGlob } from "./path-pattern.js";
import { compileRegex } from "./regex.js";
import { Walk } from "./walk.js";
import { WorkLimit } from "./work-limit.js";
import { resolveWorkspaceOptions, WORKSPACE_FIELDS } from "./workspace-options.js";

/** Options of {@link codeSearchTool}. */
export interface CodeSearchToolOptions extends WorkspaceOptions {
  /** Limit of the number of matching lines. Default 100. */
  readonly maxMatches?: number | undefined;
  /** Limit of the size of a file in bytes. Larger files are skipped. Default 1,048,576. */
  readonly maxFileBytes?: number | undefined;
  /** Limit of the bytes read per search. Default 67,108,864. */
  readonly maxTotalBytes?: number | undefined;
}

/** Arguments of `code_search`. */
export interface CodeSearchInput {
  readonly pattern: string;
  /** Restricts the search to matching paths. Default: all files. */
  readonly glob?: string | undefined;
  /** Number of lines to show before and after each match. Default 0. */
  readonly contextLines?: number | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** A folder or a file. Default: the whole folder. */
  readonly path?: string | undefined;
}

const ARGUMENTS = toolArguments({
  properties: {
    pattern: {
      type: "string",
      description:
        "A regular expression (RE2: no look-around, no back references), tried on each line.",
      examples: ["function \\w+Tool\\("],
    },
    glob: {
      type: "string",
      description: "Only files like this; without a / it is about the name alone.",
      examples: ["*.ts"],
    },
    contextLines: {
      type: "integer",
      minimum: 0,
      maximum: 20,
      description: "Lines to show around each match. Default 0.",
      examples: [2],
    },
    ignoreCase: { type: "boolean", description: "Default false.", examples: [true] },
    path: {
      type: "string",
      description: "A folder or file to search. Default: all.",
      examples: ["src"],
    },
  },
  required: ["pattern"],
});

const DESCRIPTION =
  'Searches the text of files; gives file:line:text for each matching line. What .gitignore names and binary files are left out. Example: {"pattern": "TODO|FIXME", "glob": "*.ts", "contextLines": 2}.';

interface SearchSettings {
  readonly jail: FolderJail;
  readonly rules: WalkRules;
  readonly timeLimitMs: number;
  readonly maxMatches: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

/** The pattern and the scope of a search. */
interface Query {
  readonly regex: RE2JS;
  /** Default: all files. */
  readonly files: PathTest | undefined;
  /** Number of lines to show around a match. */
  readonly context: number;
}

/** One search: its query and the matches so far. */
class Search {
  readonly found: FoundLine[] = [];
  readonly #settings: SearchSettings;
  readonly #query: Query;
  readonly #limit: WorkLimit;
  #matches = 0;
  #bytes = 0;
  #tooLarge = 0;
  #longLines = 0;

  constructor(settings: SearchSettings, query: Query, limit: WorkLimit) {
    this.#settings = settings;
    this.#query = query;
    this.#limit = limit;
  }

  async in(path: string): Promise<WalkEnd> {
    const { jail, rules } = this.#settings;
    const walk: Walk = new Walk(jail, rules, this.#limit, (file) => this.#visit(walk, file));
    try {
      return await walk.from(path);
    } catch (e) {
      if (!FileAccessError.isInstance(e) || e.reason !== "not_a_directory") throw e;
    }
    const { bytes, relativePath } = await jail.read(path);
    await this.#searchBytes(relativePath, bytes);
    return "complete";
  }

  async #visit(walk: Walk, { folder, name, path }: WalkedFile): Promise<boolean> {
    if (!(await this.#fits(path))) return true;
    const { maxFileBytes, maxTotalBytes, maxMatches } = this.#settings;
    const size = await folder.stat(name).then(
      (stats) => Number(stats.size),
      () => 0,
    ); // the file was deleted during the search
    if (size > maxFileBytes) this.#tooLarge++;
    const bytes = size > maxFileBytes ? undefined : await walk.readIn(folder, name, maxFileBytes);
    if (bytes !== undefined) await this.#searchBytes(path, bytes);
    return this.#matches < maxMatches && this.#bytes < maxTotalBytes && !this.#limit.expired;
  }

  async #fits(path: string): Promise<boolean> {
    const { files } = this.#query;
    if (files === undefined) return true;
    await this.#limit.spend(path.length * files.cost);
    return files.test(path);
  }

  async #searchBytes(path: string, bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    if (bytes.includes(0)) return; // binary
    const { regex, context } = this.#query;
    const text = new TextDecoder().decode(bytes);
    const most = this.#settings.maxMatches - this.#matches;
    const { found, tooLong } = await searchText(path, text, regex, {
      context,
      most,
      limit: this.#limit,
    });
    this.#matches += found.filter(({ isMatch }) => isMatch).length;
    this.#longLines += tooLong;
    this.found.push(...found);
  }

  /** Returns notes about what the result omits. */
  notes(end: WalkEnd): string[] {
    const { maxMatches, maxFileBytes, maxTotalBytes } = this.#settings;
    return [
      ...(this.#matches >= maxMatches ? [`... (results capped at ${maxMatches} matches)`] : []),
      ...(this.#bytes >= maxTotalBytes
        ? [`... (searched ${maxTotalBytes} bytes, then stopped; give a path or a glob)`]
        : []),
      ...(end === "time" || this.#limit.expired
        ? ["... (the time was up, not all was searched; give a path or a glob)"]
        : []),
      ...(end === "too-many"
        ? ["... (the folder is too large, not all of it was searched; give a path)"]
        : []),
      ...(this.#tooLarge > 0
        ? [`... (${this.#tooLarge} file(s) of more than ${maxFileBytes} bytes not searched)`]
        : []),
      ...(this.#longLines > 0
        ? [`... (${this.#longLines} line(s) too long for this pattern not searched)`]
        : []),
    ];
  }
}

/** Returns the test of a glob. A glob without a slash matches the file name. */
async function fileTest(glob: string | undefined): Promise<CompiledGlob | undefined> {
  if (glob === undefined || glob.trim() === "") return undefined;
  const pattern = glob.trim().replace(/^(\.?\/)+/, "");
  return compileGlob(pattern.includes("/") ? pattern : `**/${pattern}`);
}

async function search(
  settings: SearchSettings,
  input: CodeSearchInput,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { pattern, contextLines = 0, ignoreCase = false } = input;
  const [compiled, files] = await Promise.all([
    compileRegex(pattern, ignoreCase),
    fileTest(input.glob),
  ]);
  if (!compiled.ok) return ToolResult.failure(`Invalid regex pattern: ${compiled.problem}`);
  if (files?.ok === false) return ToolResult.failure(`Invalid glob pattern: ${files.problem}`);
  const limit = new WorkLimit(signal, settings.timeLimitMs);
  try {
    const query = { regex: compiled.regex, files: files?.paths, context: contextLines };
    const work = new Search(settings, query, limit);
    const path = input.path?.trim() ?? "";
    const notes = work.notes(await work.in(path === "" ? "." : path));
    const lines =
      work.found.length === 0
        ? [`No matches found for pattern: ${pattern}`]
        : renderFound(work.found, contextLines);
    return ToolResult.success([...lines, ...notes].join("\n"), {
      matches: work.found.filter(({ isMatch }) => isMatch).map(({ isMatch: _, ...line }) => line),
      complete: notes.length === 0,
    });
  } finally {
    limit.dispose();
  }
}

/**
 * Creates a tool `code_search` that searches the text files of one folder for a regular expression.
 * It runs in this process, in time linear in the length of the text.
 *
 * @throws ValidationError if the folder does not exist, or for an invalid option.
 */
export function codeSearchTool(options: CodeSearchToolOptions): Tool<CodeSearchInput> {
  checkOptions("codeSearchTool()", options, [
    ...WORKSPACE_FIELDS,
    "maxMatches",
    "maxFileBytes",
    "maxTotalBytes",
  ]);
  for (const field of ["maxMatches", "maxFileBytes", "maxTotalBytes"] as const)
    requireInteger(`codeSearchTool() ${field}`, options[field], 1);
  const { maxMatches = 100, maxFileBytes = 1_048_576, maxTotalBytes = 67_108_864 } = options;
  const resolved = resolveWorkspaceOptions("codeSearchTool()", options);
  const jail = folderJail(options.baseDir, { name: "workspace", maxBytes: maxFileBytes });
  const settings = { ...resolved, jail, maxMatches, maxFileBytes, maxTotalBytes };
  const execute = async (input: CodeSearchInput, { signal }: ToolContext): Promise<ToolResult> => {
    const read = await ARGUMENTS.read(input);
    if (!read.ok) return ToolResult.failure(read.problem);
    if (read.value.pattern.trim() === "") return ToolResult.failure("Pattern must not be blank");
    try {
      signal.throwIfAborted();
      return await search(settings, read.value, signal);
    } catch (e) {
      if (signal.aborted) throw signal.reason;
      return toFailure(jail.base.errors.system("read", read.value.path ?? "", e));
    }
  };
  return tool({
    name: "code_search",
    description: DESCRIPTION,
    input: ARGUMENTS.input,
    effect: "read",
    untrusted: true,
    execute,
  });
}
