import type { FileAccessReason } from "../../../contracts/state-errors.js";

import { AccessDeniedError, FileAccessError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { codeOf } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/** Whether an error means that the path does not exist. */
export function isMissing(e: unknown): boolean {
  return codeOf(e) === "ENOENT" || codeOf(e) === "ENOTDIR";
}

/**
 * Returns the system's message without its path, because the caller must not learn the real path.
 */
function reasonWithoutPath(e: unknown): string {
  return typeof codeOf(e) === "string" ? (messageOf(e).split(",")[0] ?? "") : messageOf(e);
}

/** Creates the errors of a jail. `name` is the name of its folder in messages. */
export class JailErrors {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  denied(problem: string): AccessDeniedError {
    return new AccessDeniedError(`Access denied: ${problem}`);
  }

  outside(): AccessDeniedError {
    return this.denied(`path is outside the ${this.#name} directory`);
  }

  resolvesOutside(): AccessDeniedError {
    return this.denied(`path resolves outside the ${this.#name} directory`);
  }

  notFound(path: string): FileAccessError {
    return this.#file(`File not found: ${preview(path)}`, path, "not_found");
  }

  notAFile(path: string): FileAccessError {
    return this.#file(`Not a regular file: ${preview(path)}`, path, "not_a_file");
  }

  notADirectory(path: string): FileAccessError {
    return this.#file(`Path is not a directory: ${preview(path)}`, path, "not_a_directory");
  }

  notText(path: string): FileAccessError {
    return this.#file(`Not a text file: ${preview(path)}`, path, "not_text");
  }

  tooLarge(path: string, bytes: number | bigint, maxBytes: number): FileAccessError {
    return this.#file(
      `File is too large: ${preview(path)} has ${bytes} bytes, and at most ${maxBytes} are allowed`,
      path,
      "too_large",
    );
  }

  changed(path: string): FileAccessError {
    return this.#file(`File has changed since it was read: ${preview(path)}`, path, "changed");
  }

  /**
   * Converts a system error. A link at a place that had none before is treated as an escape
   * attempt.
   */
  system(doing: "read" | "write", path: string, e: unknown): Error {
    if (
      AccessDeniedError.isInstance(e) ||
      FileAccessError.isInstance(e) ||
      codeOf(e) === "ABORT_ERR"
    )
      return e as Error; // all three are errors
    if (codeOf(e) === "ELOOP") return this.resolvesOutside();
    if (isMissing(e)) return this.notFound(path);
    if (codeOf(e) === "EISDIR") return this.notAFile(path);
    return new FileAccessError(
      `Failed to ${doing} file: ${reasonWithoutPath(e)}`,
      { path, reason: "io" },
      { cause: e },
    );
  }

  #file(message: string, path: string, reason: FileAccessReason): FileAccessError {
    return new FileAccessError(message, { path, reason });
  }
}
