import type { WalkRules } from "./walk.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  preview,
  requireArray,
  requireBoolean,
  requireDuration,
} from "../../../contracts/validation.js";

/** What `globTool` and `codeSearchTool` have in common. */
export interface WorkspaceOptions {
  /** The folder to look in; nothing outside of it is looked at. */
  readonly baseDir: string;
  /** What is left out, as in a .gitignore file. Default `[".git", "node_modules"]`. A folder that the model names itself is looked at all the same. */
  readonly ignore?: readonly string[] | undefined;
  /** Whether what the .gitignore files of the folder name is left out. Default true. */
  readonly gitignore?: boolean | undefined;
  /** After so many milliseconds what was found is given. Default 30,000. */
  readonly timeLimitMs?: number | undefined;
}

/** The names of these options. */
export const WORKSPACE_FIELDS = ["baseDir", "ignore", "gitignore", "timeLimitMs"] as const;

/** The options with their defaults. @throws ValidationError */
export function resolveWorkspaceOptions(
  what: string,
  o: WorkspaceOptions,
): { readonly rules: WalkRules; readonly timeLimitMs: number } {
  requireArray(`${what} ignore`, o.ignore);
  const wrong = o.ignore?.find((pattern) => typeof pattern !== "string" || pattern.trim() === "");
  if (wrong !== undefined)
    throw new ValidationError(`${what} ignore must hold patterns, got: ${preview(wrong)}`);
  requireBoolean(`${what} gitignore`, o.gitignore);
  requireDuration(`${what} timeLimitMs`, o.timeLimitMs);
  return {
    rules: { ignore: [...(o.ignore ?? [".git", "node_modules"])], gitignore: o.gitignore ?? true },
    timeLimitMs: o.timeLimitMs ?? 30_000,
  };
}
