import { PromptTemplateError, ValidationError } from "../contracts/errors.js";
import { BaselineError, DatasetError } from "../contracts/evaluation-errors.js";
import { FileFormatError } from "../contracts/state-errors.js";

/** The exit codes of the process. `docs/command-line.md` lists them. */
export const ExitCode = Object.freeze({
  OK: 0,
  /** The run failed. For `trace diff`: the runs differ. */
  FAILED: 1,
  /**
   * Invalid arguments, an unusable file, or an ensemble that can't be run: no costs were caused.
   */
  USAGE: 2,
  /** For `eval`: trials or scores failed, or the budget ended the evaluation. */
  INCOMPLETE: 3,
  /** The run waits for an external event: run the command again later. */
  SUSPENDED: 75,
  TIMEOUT: 124,
  CANCELLED: 130,
} as const);

/**
 * Returns the exit code for an error of the command, or for an error before the run caused costs.
 */
export function exitCodeOf(error: unknown): number {
  const causes = [
    ValidationError,
    PromptTemplateError,
    FileFormatError,
    DatasetError,
    BaselineError,
  ]; // a failure of a plugin at its start is wrapped
  return causes.some((type) => type.find(error) !== undefined) ? ExitCode.USAGE : ExitCode.FAILED;
}
