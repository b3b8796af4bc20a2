/** The part of an error that lists and rows show. */
export interface ShownError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** The code with which the engine wraps what failed in a task. */
const WRAPPER = "AE_TASK_EXECUTION";

/** The error of a failed task: the cause in the engine's wrapper where the cause has a code, else the error itself. */
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
