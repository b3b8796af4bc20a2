import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { FolderJail } from "../shared/path-jail.js";
import type { LinePage } from "./line-page.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { toolArguments } from "../shared/arguments.js";
import { HASH_LENGTH } from "../shared/file-hash.js";
import { FILE_CALL_MS, folderJail } from "../shared/path-jail.js";
import { toFailure } from "../shared/tool-failure.js";
import { readPage } from "./line-page.js";

/** Options of {@link fileReadTool}. */
export interface FileReadToolOptions {
  /** The folder that the tool may read. Files outside of it are never read. */
  readonly baseDir: string;
  /**
   * Limit of the bytes per call. A longer file is returned in pages, and the result explains how to
   * request the next page. Default 65,536, about 16,000 tokens.
   */
  readonly maxBytes?: number | undefined;
}

/** Arguments of `file_read`. */
export interface FileReadInput {
  readonly path: string;
  /** First line, counted from 1. Default 1. */
  readonly offset?: number | undefined;
  /** Maximum number of lines. Default: as many as fit into one page. */
  readonly limit?: number | undefined;
  /** Whether to return the file's hash. Default false. */
  readonly hash?: boolean | undefined;
}

const DEFAULT_PAGE_BYTES = 65_536;

const ARGUMENTS = toolArguments({
  properties: {
    path: {
      type: "string",
      description: "The file, relative to the folder.",
      examples: ["src/app.ts"],
    },
    offset: {
      type: "integer",
      minimum: 1,
      description: "First line to read, from 1. Default 1.",
      examples: [200],
    },
    limit: { type: "integer", minimum: 1, description: "How many lines at most.", examples: [100] },
    hash: {
      type: "boolean",
      description: "Also give the file's hash, for code_edit's expectedHash.",
      examples: [true],
    },
  },
  required: ["path"],
});

const DESCRIPTION =
  'Reads a text file. Long files come in pages: the last line then names how to continue. Example: {"path": "src/app.ts"}, or {"path": "app.log", "offset": 200, "limit": 100}.';

/** Returns the text of a page, followed by a note on how to continue. */
function pageText(
  page: LinePage & { readonly kind: "lines" },
  first: number,
  maxBytes: number,
): ToolResult {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(page.bytes);
  } catch {
    return ToolResult.failure("Failed to read file: it is not valid UTF-8");
  }
  const structured = { startLine: first, endLine: page.lastLine, more: page.more };
  if (!page.more) return ToolResult.success(text, structured);
  const next = page.cut
    ? `Line ${first} is longer than ${maxBytes} bytes and was cut`
    : `Lines ${first} to ${page.lastLine}; the file goes on`;
  return ToolResult.success(
    `${text}${text.endsWith("\n") ? "" : "\n"}[${next}. Read on with offset ${page.lastLine + 1}.]`,
    structured,
  );
}

async function hashOf(handle: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(64 * 1024);
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return hash.digest("hex").slice(0, HASH_LENGTH);
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

async function readPart(
  jail: FolderJail,
  path: string,
  { offset = 1, limit, hash }: FileReadInput,
  signal: AbortSignal,
): Promise<ToolResult> {
  const handle = await jail.open(path);
  try {
    const page = await readPage(handle, {
      firstLine: offset,
      lineCount: limit ?? Number.POSITIVE_INFINITY,
      maxBytes: jail.maxBytes,
      signal,
    });
    if (page.kind === "binary") return ToolResult.failure(`Not a text file: ${path}`);
    if (page.kind === "too-far")
      return ToolResult.failure(`Failed to read file: line ${offset} lies too far inside it`);
    if (page.kind === "beyond-end")
      return ToolResult.failure(
        `The file has ${page.lines} line(s); offset ${offset} is beyond its end`,
      );
    const result = pageText(page, offset, jail.maxBytes);
    if (!result.ok || hash !== true) return result;
    const digest = await hashOf(handle, signal);
    return ToolResult.success(`${result.output}\n[hash ${digest}]`, {
      ...(result.structured as object),
      hash: digest,
    }); // created by pageText
  } finally {
    await handle.close();
  }
}

/**
 * Creates a tool `file_read` that reads text files of one folder only. Rejects paths that leave the
 * folder, symbolic links, folders, devices and binary files. Returns long files in pages.
 *
 * @throws ValidationError if the folder does not exist, or for an invalid option.
 */
export function fileReadTool(options: FileReadToolOptions): Tool<FileReadInput> {
  checkOptions("fileReadTool()", options, ["baseDir", "maxBytes"]);
  requireInteger("fileReadTool() maxBytes", options.maxBytes, 4);
  const jail = folderJail(options.baseDir, { maxBytes: options.maxBytes ?? DEFAULT_PAGE_BYTES });
  const execute = async (input: FileReadInput, { signal }: ToolContext): Promise<ToolResult> => {
    const read = await ARGUMENTS.read(input);
    if (!read.ok) return ToolResult.failure(read.problem);
    const path = read.value.path.trim();
    if (path === "") return ToolResult.failure("File path must not be blank");
    try {
      signal.throwIfAborted();
      return await readPart(jail, path, read.value, signal);
    } catch (e) {
      if (signal.aborted) throw signal.reason;
      return toFailure(jail.base.errors.system("read", path, e));
    }
  };
  return tool({
    name: "file_read",
    description: DESCRIPTION,
    input: ARGUMENTS.input,
    effect: "read",
    untrusted: true,
    timeoutMs: FILE_CALL_MS,
    execute,
  });
}
