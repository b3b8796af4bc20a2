import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { FolderJail } from "../shared/path-jail.js";
import { FileAccessError } from "../../../contracts/state-errors.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireBoolean, requireInteger } from "../../../contracts/validation.js";
import { toolArguments } from "../shared/arguments.js";
import { emitFileChanged } from "../shared/file-changed.js";
import { FILE_CALL_MS, folderJail } from "../shared/path-jail.js";
import { excerpt } from "../../../util/text.js";
import { toFailure } from "../shared/tool-failure.js";

/** Options of {@link fileWriteTool}. */
export interface FileWriteToolOptions {
  /** The folder in which the tool may write. Files outside of it are never written. */
  readonly baseDir: string;
  /** Whether each write needs a person's approval. Default false. */
  readonly requireApproval?: boolean | undefined;
  /** Limit of the size of one file in bytes. Default 1,048,576. */
  readonly maxBytes?: number | undefined;
}

/** Arguments of `file_write`. */
export interface FileWriteInput {
  readonly path: string;
  readonly content: string;
}

const ARGUMENTS = toolArguments({
  properties: {
    path: {
      type: "string",
      description: "The file, relative to the folder. Missing folders are made.",
      examples: ["reports/summary.md"],
    },
    content: { type: "string", description: "The whole content.", examples: ["# Summary\n"] },
  },
  required: ["path", "content"],
});

const DESCRIPTION =
  'Writes a text file, replacing what is there. Example: {"path": "reports/summary.md", "content": "# Summary\\n"}.';

/**
 * Returns the content before the write, for listeners that need the change. Returns `undefined` if
 * the file does not exist.
 */
async function textBefore(
  jail: FolderJail,
  path: string,
  { scope, signal }: ToolContext,
): Promise<string | undefined> {
  if (!scope.listens("file_changed")) return undefined;
  try {
    return Buffer.from((await jail.read(path, { limit: jail.maxBytes, signal })).bytes).toString(
      "utf8",
    );
  } catch (e) {
    if (FileAccessError.isInstance(e) && e.reason === "not_found") return undefined;
    throw e;
  }
}

async function write(
  jail: FolderJail,
  path: string,
  content: string,
  ctx: ToolContext,
): Promise<ToolResult> {
  const before = await textBefore(jail, path, ctx);
  const { created, relativePath } = await jail.write(path, content, { signal: ctx.signal });
  await emitFileChanged(ctx, relativePath, created ? undefined : (before ?? ""), content);
  return ToolResult.success(`Successfully wrote to: ${path}`, {
    path: relativePath,
    created,
    bytes: Buffer.byteLength(content),
  });
}

/**
 * Creates a tool `file_write` that writes text files in one folder only. Writes are atomic and
 * never follow a symbolic link. Creates missing folders.
 *
 * @throws ValidationError if the folder does not exist, or for an invalid option.
 */
export function fileWriteTool(options: FileWriteToolOptions): Tool<FileWriteInput> {
  checkOptions("fileWriteTool()", options, ["baseDir", "requireApproval", "maxBytes"]);
  requireBoolean("fileWriteTool() requireApproval", options.requireApproval);
  requireInteger("fileWriteTool() maxBytes", options.maxBytes, 1);
  const jail = folderJail(options.baseDir, { maxBytes: options.maxBytes });
  const execute = async (input: FileWriteInput, ctx: ToolContext): Promise<ToolResult> => {
    const read = await ARGUMENTS.read(input);
    if (!read.ok) return ToolResult.failure(read.problem);
    const path = read.value.path.trim();
    if (path === "") return ToolResult.failure("Path must not be blank");
    try {
      return await write(jail, path, read.value.content, ctx);
    } catch (e) {
      if (ctx.signal.aborted) throw ctx.signal.reason;
      return toFailure(e);
    }
  };
  return tool<FileWriteInput>({
    name: "file_write",
    description: DESCRIPTION,
    input: ARGUMENTS.input,
    sequential: true,
    timeoutMs: FILE_CALL_MS,
    effect: "write",
    requireApproval: options.requireApproval ?? false,
    approvalDescription: ({ path, content }) =>
      `Write to file: ${path.trim()}\nContent preview: ${excerpt(content)}`,
    approvalRejection: ({ path }) => `File write rejected by reviewer: ${path.trim()}`,
    execute,
  });
}
