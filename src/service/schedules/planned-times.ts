import type { ScheduleTimes } from "../../contracts/ensemble-options.js";
import { ValidationError } from "../../contracts/errors.js";
import { loadOptionalPackage } from "../../plugins/shared/optional-package.js";
import { messageOf } from "../../util/errors.js";

/** The planned times of a schedule, in milliseconds since 1970. */
export interface PlannedTimes {
  /** Returns the first time after an instant. Returns `undefined` if there is none. */
  after(ms: number): number | undefined;
  /** Returns the last time before an instant. Returns `undefined` if there is none. */
  before(ms: number): number | undefined;
}

/** The part of croner that is used. */
interface CronerModule {
  readonly Cron: new (
    expression: string,
    options: { readonly paused: true; readonly timezone?: string },
  ) => {
    nextRun(after: Date): Date | null;
    previousRuns(count: number, before: Date): readonly Date[];
  };
}

/**
 * Reads the times of a schedule.
 *
 * @throws ValidationError for an invalid expression or time zone, for an expression without any
 * time, and without the package `croner`.
 */
export async function plannedTimes(
  what: string,
  times: ScheduleTimes,
  nowMs: number,
): Promise<PlannedTimes> {
  if ("everyMs" in times) return everyTime(times.everyMs);
  const { Cron } = await loadOptionalPackage<CronerModule>("croner", "Schedule.cron() needs");
  const { cron, timezone } = times;
  try {
    const job = new Cron(cron, { paused: true, ...(timezone !== undefined && { timezone }) });
    const planned: PlannedTimes = {
      after: (ms) => job.nextRun(new Date(ms))?.getTime(),
      before: (ms) => job.previousRuns(1, new Date(ms)).at(0)?.getTime(),
    };
    if (planned.after(nowMs) === undefined) throw new Error("it never fires");
    return planned;
  } catch (cause) {
    const zone = timezone === undefined ? "" : ` in time zone '${timezone}'`;
    throw new ValidationError(`${what} '${cron}'${zone} is invalid: ${messageOf(cause)}`, {
      cause,
      hint: "Five fields: minute, hour, day, month, weekday; or six, with seconds first. Time zones have names such as Europe/Berlin.",
    });
  }
}

function everyTime(everyMs: number): PlannedTimes {
  return {
    after: (ms) => (Math.floor(ms / everyMs) + 1) * everyMs,
    before: (ms) => (Math.ceil(ms / everyMs) - 1) * everyMs,
  };
}
