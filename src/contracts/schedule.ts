import type { ScheduleTimes } from "./ensemble-options.js";
import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireDuration, requireText } from "./validation.js";

/** When a schedule fires. Made by `Schedule.cron` or `Schedule.every`. */
export type Schedule = ScheduleTimes;

/** Creates the planned times of a schedule. */
export const Schedule = Object.freeze({
  /**
   * At the times of a cron expression with five fields, or six with seconds first. Needs the package
   * `croner` when the service starts. Default of `timezone`: that of the machine.
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
   * Each `everyMs` milliseconds, counted from 1970-01-01T00:00:00Z: `every(60_000)` fires at full
   * minutes.
   * @throws ValidationError for anything but a whole number of milliseconds of at least 1,000.
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
