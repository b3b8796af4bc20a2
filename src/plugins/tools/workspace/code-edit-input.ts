import { toolArguments } from "../shared/arguments.js";
import type { Replacement } from "./text-edit.js";

/** Arguments of `code_edit`. */
export interface CodeEditInput {
  readonly path: string;
  readonly command: string;
  /** The new lines, the replacement, or the whole file. */
  readonly content?: string | undefined;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly find?: string | undefined;
  readonly regex?: boolean | undefined;
  readonly replaceAll?: boolean | undefined;
  /** Several replacements, applied in order. If one fails, none is applied. */
  readonly edits?: readonly Replacement[] | undefined;
  /** The hash from `file_read`. Nothing is written if the file has changed after it was read. */
  readonly expectedHash?: string | undefined;
}

/** The arguments of `code_edit`. */
export const CODE_EDIT_ARGUMENTS = toolArguments({
  properties: {
    path: {
      type: "string",
      description: "The file, relative to the folder.",
      examples: ["src/app.ts"],
    },
    command: {
      type: "string",
      description: "replace_lines, find_replace or write (the whole file).",
      examples: ["find_replace"],
    },
    content: {
      type: "string",
      description: "The new text. Empty takes lines away.",
      examples: ["const port = 8080;"],
    },
    startLine: {
      type: "integer",
      description: "replace_lines: first line, from 1.",
      examples: [10],
    },
    endLine: {
      type: "integer",
      description: "replace_lines: last line, included.",
      examples: [12],
    },
    find: {
      type: "string",
      description:
        "find_replace: the text to replace. It must occur once, unless replaceAll is set.",
      examples: ["const port = 80;"],
    },
    regex: {
      type: "boolean",
      description: "Whether find is a regular expression (RE2). Content stays plain text.",
      examples: [false],
    },
    replaceAll: { type: "boolean", description: "Replace every occurrence.", examples: [true] },
    edits: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      description: "find_replace: several replacements at once, instead of find and content.",
      examples: [[{ find: "foo(", content: "bar(", replaceAll: true }]],
      items: {
        type: "object",
        properties: {
          find: { type: "string", description: "Text to replace.", examples: ["foo("] },
          content: { type: "string", description: "New text.", examples: ["bar("] },
          regex: { type: "boolean", description: "As above.", examples: [false] },
          replaceAll: { type: "boolean", description: "As above.", examples: [true] },
        },
        required: ["find", "content"],
      },
    },
    expectedHash: {
      type: "string",
      description: "The hash from file_read; the edit fails if the file has changed since.",
      examples: ["9f86d081884c7d65"],
    },
  },
  required: ["path", "command"],
});

/** The description of `code_edit` for models. */
export const CODE_EDIT_DESCRIPTION =
  'Changes a text file and shows the changed lines. Example: {"path": "src/app.ts", "command": "find_replace", "find": "port = 80;", "content": "port = 8080;"}, or {"path": "src/app.ts", "command": "replace_lines", "startLine": 3, "endLine": 4, "content": "new line"}.';

/** Returns the problem with the arguments apart from their types, or `undefined`. */
export function problemOfInput(input: CodeEditInput): string | undefined {
  const { path, command, edits } = input;
  if (path.trim() === "") return "Path must not be blank";
  if (command.trim() === "") return "Command must not be blank";
  if (!["replace_lines", "find_replace", "write"].includes(command))
    return `Unknown command: ${command}. Expected: replace_lines, find_replace, or write`;
  return edits === undefined ? problemOfOneChange(input) : problemOfSeveral(input);
}

function problemOfSeveral({ command, content, find }: CodeEditInput): string | undefined {
  if (command !== "find_replace") return `edits belong to find_replace, not to ${command}`;
  return find === undefined && content === undefined
    ? undefined
    : "Give either edits, or find and content";
}

function problemOfOneChange(input: CodeEditInput): string | undefined {
  const { command, content, startLine, endLine, find } = input;
  if (content === undefined) return "Content must not be null";
  if (command === "replace_lines" && (startLine === undefined || endLine === undefined))
    return "replace_lines requires startLine and endLine";
  return command === "find_replace" && (find === undefined || find === "")
    ? "find_replace requires 'find' to be set"
    : undefined;
}
