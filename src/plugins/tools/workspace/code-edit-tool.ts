import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { FolderJail, JailedFile } from "../shared/path-jail.js";
import type { CodeEditInput } from "./code-edit-input.js";
import type { Edited, Replacement } from "./text-edit.js";
import { FileAccessError } from "../../../contracts/state-errors.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireBoolean, requireInteger } from "../../../contracts/validation.js";
import { emitFileChanged } from "../shared/file-changed.js";
import { fileHash, matchesHash } from "../shared/file-hash.js";
import { FILE_CALL_MS, folderJail } from "../shared/path-jail.js";
import { excerpt } from "../../../util/text.js";
import { toFailure } from "../shared/tool-failure.js";
import { CODE_EDIT_ARGUMENTS, CODE_EDIT_DESCRIPTION, problemOfInput } from "./code-edit-input.js";
import { snippetOf } from "./snippet.js";
import { EditableText, replaceLines, replaceText } from "./text-edit.js";
import { Turns } from "./turns.js";
import { WorkLimit } from "./work-limit.js";

/** Options of {@link codeEditTool}. */
export interface CodeEditToolOptions {
  /** The folder in which files may be changed. Files outside of it are never changed. */
  readonly baseDir: string;
  /** Whether each edit needs a person's approval. Default false. */
  readonly requireApproval?: boolean | undefined;
  /** Limit of the size of one file in bytes, before and after the edit. Default 1,048,576. */
  readonly maxBytes?: number | undefined;
}

/** Time limit in milliseconds for the regular expressions of one call. */
const REGEX_LIMIT_MS = 3_000;
/** Number of attempts to edit a file that another process changes at the same time. */
const ATTEMPTS = 3;

/** An existing file, or `undefined` for one that `write` creates. */
interface Current {
  readonly file: JailedFile | undefined;
  readonly text: string;
}

async function currentOf(
  jail: FolderJail,
  path: string,
  mayBeMissing: boolean,
  signal: AbortSignal,
): Promise<Current> {
  try {
    const file = await jail.read(path, { signal });
    if (file.bytes.includes(0)) throw jail.base.errors.notText(path);
    return {
      file,
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file.bytes),
    };
  } catch (e) {
    if (mayBeMissing && FileAccessError.isInstance(e) && e.reason === "not_found")
      return { file: undefined, text: "" };
    if (e instanceof TypeError) throw jail.base.errors.notText(path); // not UTF-8
    throw e;
  }
}

/** The file to edit, and the limits of the edit. */
interface EditTarget {
  readonly path: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

async function replaceAllOf(
  edits: readonly Replacement[],
  editable: EditableText,
  { path, maxBytes, signal }: EditTarget,
): Promise<Edited> {
  const work = new WorkLimit(signal, REGEX_LIMIT_MS);
  try {
    let text = editable.text;
    for (const [i, edit] of edits.entries()) {
      signal.throwIfAborted();
      const edited = await replaceText(
        text,
        { ...edit, find: editable.adapt(edit.find), content: editable.adapt(edit.content) },
        path,
        { maxBytes, work },
      );
      if (!edited.ok)
        return edits.length === 1
          ? edited
          : {
              ok: false,
              problem: `Edit ${i + 1} of ${edits.length}: ${edited.problem}. Nothing was changed.`,
            };
      text = edited.text;
    }
    return { ok: true, text };
  } finally {
    work.dispose();
  }
}

/** Returns the complete new text of the file. */
async function edit(input: CodeEditInput, before: string, target: EditTarget): Promise<Edited> {
  const {
    command,
    content = "",
    startLine = 0,
    endLine = 0,
    find = "",
    regex,
    replaceAll,
    edits,
  } = input;
  if (command === "write") return { ok: true, text: content };
  const editable = new EditableText(before);
  const edited =
    command === "replace_lines"
      ? replaceLines(editable.text, startLine, endLine, editable.adapt(content))
      : await replaceAllOf(edits ?? [{ find, content, regex, replaceAll }], editable, target);
  return edited.ok ? { ok: true, text: editable.restore(edited.text) } : edited;
}

function headline({ command, startLine, endLine }: CodeEditInput, path: string): string {
  if (command === "write") return `Successfully wrote to: ${path}`;
  return command === "replace_lines"
    ? `Replaced lines ${startLine}-${endLine} in ${path}`
    : `Replaced in ${path}`;
}

/** A file that was written. */
interface WrittenFile {
  readonly path: string;
  readonly relativePath: string;
  readonly before: string;
  readonly after: string;
}

async function editResult(
  input: CodeEditInput,
  { path, relativePath, before, after }: WrittenFile,
): Promise<ToolResult> {
  const { diffLines, linesOf, unifiedDiff } = await import("../shared/line-diff.js");
  const [old, now] = [linesOf(before), linesOf(after)];
  const changes = diffLines(old, now);
  const hash = fileHash(Buffer.from(after));
  const snippet =
    input.command === "write"
      ? ""
      : changes.length === 0
        ? "(nothing has changed)"
        : snippetOf(now, changes);
  const parts = [
    headline(input, path),
    snippet,
    input.expectedHash === undefined ? "" : `[hash ${hash}]`,
  ].filter((part) => part !== "");
  return ToolResult.success(parts.join("\n"), {
    path: relativePath,
    hash,
    diff: unifiedDiff(relativePath, old, now, changes),
  });
}

async function tryEdits(
  jail: FolderJail,
  input: CodeEditInput,
  path: string,
  ctx: ToolContext,
): Promise<ToolResult> {
  const { file, text } = await currentOf(jail, path, input.command === "write", ctx.signal);
  if (
    input.expectedHash !== undefined &&
    !matchesHash(file?.bytes ?? new Uint8Array(), input.expectedHash)
  )
    throw jail.base.errors.changed(path);
  const edited = await edit(input, text, {
    path,
    maxBytes: jail.maxBytes,
    signal: ctx.signal,
  });
  if (!edited.ok) return ToolResult.failure(edited.problem);
  const { relativePath } = await jail.write(path, edited.text, {
    expectedVersion: file?.version ?? "",
    signal: ctx.signal,
  });
  await emitFileChanged(ctx, relativePath, file === undefined ? undefined : text, edited.text);
  return editResult(input, { path, relativePath, before: text, after: edited.text });
}

async function editFile(
  jail: FolderJail,
  input: CodeEditInput,
  ctx: ToolContext,
): Promise<ToolResult> {
  const path = input.path.trim();
  for (let made = 1; ; made++) {
    try {
      ctx.signal.throwIfAborted();
      return await tryEdits(jail, input, path, ctx);
    } catch (e) {
      if (ctx.signal.aborted) throw ctx.signal.reason;
      const raced =
        FileAccessError.isInstance(e) && e.reason === "changed" && input.expectedHash === undefined;
      if (!raced || made === ATTEMPTS) return toFailure(e);
    }
  }
}

function approvalDescription({ path, command, content, edits }: CodeEditInput): string {
  const preview = excerpt(
    content ?? (edits ?? []).map((one) => `${one.find} -> ${one.content}`).join("\n"),
  );
  return `Edit file (${command}): ${path.trim()}\nContent preview: ${preview}`;
}

/**
 * Creates a tool `code_edit` that changes text files of one folder only. It replaces lines by
 * number, text that occurs once, or the whole file. It preserves line ends, the byte order mark and
 * the end of the last line. Writes are atomic.
 *
 * @throws ValidationError if the folder does not exist, or for an invalid option.
 */
export function codeEditTool(options: CodeEditToolOptions): Tool<CodeEditInput> {
  checkOptions("codeEditTool()", options, ["baseDir", "requireApproval", "maxBytes"]);
  requireBoolean("codeEditTool() requireApproval", options.requireApproval);
  requireInteger("codeEditTool() maxBytes", options.maxBytes, 1);
  const jail = folderJail(options.baseDir, { name: "workspace", maxBytes: options.maxBytes });
  const turns = new Turns();
  const execute = async (input: CodeEditInput, ctx: ToolContext): Promise<ToolResult> => {
    const read = await CODE_EDIT_ARGUMENTS.read(input);
    const problem = read.ok ? problemOfInput(read.value) : read.problem;
    if (!read.ok || problem !== undefined) return ToolResult.failure(problem ?? "");
    return turns.take(read.value.path.trim(), () => editFile(jail, read.value, ctx));
  };
  return tool<CodeEditInput>({
    name: "code_edit",
    description: CODE_EDIT_DESCRIPTION,
    input: CODE_EDIT_ARGUMENTS.input,
    sequential: true,
    timeoutMs: FILE_CALL_MS,
    effect: "write",
    requireApproval: options.requireApproval ?? false,
    approvalDescription,
    approvalRejection: ({ path }) => `Edit rejected by reviewer: ${path}`,
    execute,
  });
}
