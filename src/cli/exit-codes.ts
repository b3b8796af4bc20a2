import { PromptTemplateError, ValidationError } from "../contracts/errors.js";
import { BaselineError, DatasetError } from "../contracts/evaluation-errors.js";
import { FileFormatError } from "../contracts/state-errors.js";

/** How the process ends. `docs/command-line.md` lists them. */
export const ExitCode = Object.freeze({
  OK: 0,
  /** The run failed; of `trace diff`: the runs differ. */
  FAILED: 1,
  /** Wrong arguments, a file that can't be used, an ensemble that can't be run: nothing was spent. */
  USAGE: 2,
  /** Of `eval`: trials or scores failed, or the budget ended the evaluation. */
  INCOMPLETE: 3,
  /** The run waits for something that may come later: run it again. */
  SUSPENDED: 75,
  TIMEOUT: 124,
  CANCELLED: 130,
} as const);

/** For what was thrown before anything was spent, or by the command itself. */
export function exitCodeOf(error: unknown): number {
  const causes = [
    ValidationError,
    PromptTemplateError,
    FileFormatError,
    DatasetError,
    BaselineError,
  ]; // a plugin's complaint at its start is wrapped
  return causes.some((type) => type.find(error) !== undefined) ? ExitCode.USAGE : ExitCode.FAILED;
}
