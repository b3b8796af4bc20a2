import type { ScheduleTimes } from "./ensemble-options.js";
import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireDuration, requireText } from "./validation.js";

/**
 * The times at which a schedule starts its task. Created by `Schedule.cron` or `Schedule.every`.
 */
export type Schedule = ScheduleTimes;

/** Creates the planned times of a schedule. */
export const Schedule = Object.freeze({
  /**
   * The times of a cron expression with five fields. With six fields, the first field contains the
   * seconds. Requires the package `croner` when the service starts. Default of `timezone`: the time
   * zone of the machine.
   *
   * @throws ValidationError for a blank expression or time zone, or an unknown option. `start()`
   * checks the expression.
   */
  cron(cron: string, options: { readonly timezone?: string | undefined } = {}): ScheduleTimes {
    requireText(cron, `Schedule.cron() must be a cron expression, got: ${preview(cron)}`);
    checkOptions("Schedule.cron()", options, ["timezone"]);
    const { timezone } = options;
    if (timezone !== undefined)
      requireText(timezone, "Schedule.cron() timezone must not be blank when set");
    return Object.freeze({ cron, ...(timezone !== undefined && { timezone }) });
  },
  /**
   * Multiples of `everyMs` milliseconds since 1970-01-01T00:00:00Z: `every(60_000)` is every full
   * minute.
   *
   * @throws ValidationError unless `everyMs` is a whole number of at least 1,000.
   */
  every(everyMs: number): ScheduleTimes {
    requireDuration("Schedule.every()", everyMs);
    if (!Number.isInteger(everyMs) || everyMs < 1_000)
      throw new ValidationError(
        `Schedule.every() must be a whole number of milliseconds of at least 1000, got: ${preview(everyMs)}`,
      );
    return Object.freeze({ everyMs });
  },
});
