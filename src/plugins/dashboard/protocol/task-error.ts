/** The part of an error that lists and rows show. */
export interface ShownError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** The code of the error in which the engine wraps a failure of a task. */
const WRAPPER = "AE_TASK_EXECUTION";

/**
 * Returns the error of a failed task. This is the cause inside the wrapper of the engine if the
 * cause has a code. Otherwise it is the error itself.
 */
export function taskError(error: unknown): ShownError {
  let shown = fieldsOf(error);
  for (let depth = 0; shown.code === WRAPPER && depth < 10; depth++) {
    const cause = fieldsOf(shown.cause);
    if (typeof cause.code !== "string" || cause.code === "") break;
    shown = cause;
  }
  return shown;
}

function fieldsOf(value: unknown): ShownError {
  return typeof value === "object" && value !== null ? value : {};
}
