import type { WalkRules } from "./walk.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  preview,
  requireArray,
  requireBoolean,
  requireDuration,
} from "../../../contracts/validation.js";

/** Options that `globTool` and `codeSearchTool` share. */
export interface WorkspaceOptions {
  /** The folder to search. Files outside of it are never read. */
  readonly baseDir: string;
  /**
   * Patterns to skip, in the syntax of a .gitignore file. A folder that the model names explicitly
   * is searched nevertheless. Default `[".git", "node_modules"]`.
   */
  readonly ignore?: readonly string[] | undefined;
  /** Whether entries that the folder's .gitignore files exclude are skipped. Default true. */
  readonly gitignore?: boolean | undefined;
  /**
   * Time limit of a search in milliseconds. After the limit, the matches so far are returned.
   * Default 30,000.
   */
  readonly timeLimitMs?: number | undefined;
}

/** The names of these options. */
export const WORKSPACE_FIELDS = ["baseDir", "ignore", "gitignore", "timeLimitMs"] as const;

/**
 * Returns the options with defaults.
 *
 * @throws ValidationError for an invalid option.
 */
export function resolveWorkspaceOptions(
  what: string,
  o: WorkspaceOptions,
): { readonly rules: WalkRules; readonly timeLimitMs: number } {
  requireArray(`${what} ignore`, o.ignore);
  const wrong = o.ignore?.find((pattern) => typeof pattern !== "string" || pattern.trim() === "");
  if (wrong !== undefined)
    throw new ValidationError(`${what} ignore must contain patterns, got: ${preview(wrong)}`);
  requireBoolean(`${what} gitignore`, o.gitignore);
  requireDuration(`${what} timeLimitMs`, o.timeLimitMs);
  return {
    rules: { ignore: [...(o.ignore ?? [".git", "node_modules"])], gitignore: o.gitignore ?? true },
    timeLimitMs: o.timeLimitMs ?? 30_000,
  };
}
