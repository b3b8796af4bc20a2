import type { Clock } from "../../../contracts/runtime.js";
import type { Moment, TemporalApi } from "./moment.js";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview } from "../../../contracts/validation.js";
import { InputProblem, shown } from "../shared/input-problem.js";
import { difference, shift, weekday } from "./calendar.js";
import { dateTimeOf, isDate, localText, momentOf, momentText, zoneOf } from "./moment.js";

/** The commands that the tool understands, as its description and its error messages list them. */
export const COMMANDS: readonly string[] = Object.freeze([
  "now",
  "now in {zone}",
  "today",
  "today in {zone}",
  "{date} + N days|weeks|months|years",
  "{datetime} - N days|weeks|months|years|hours|minutes|seconds",
  "convert {datetime} from {zone} to {zone}",
  "convert {datetime with offset or zone} to {zone}",
  "diff {a} to {b}",
  "weekday {date}",
]);

/** Parses and runs one command. Reads the clock only for commands that need the current time. */
export class DateTimeCommands {
  readonly #temporal: TemporalApi;
  readonly #clock: () => Clock;

  constructor(temporal: TemporalApi, clock: () => Clock) {
    this.#temporal = temporal;
    this.#clock = clock;
  }

  /** @throws InputProblem for an unknown or malformed command */
  run(command: string): ToolResult {
    const [, subject = "", from, to = ""] =
      /^convert\s+(.+?)(?:\s+from\s+(.+?))?\s+to\s+(.+)$/i.exec(command) ?? [];
    if (subject !== "") return this.#convert(subject, from, to);
    const [, a = "", b = ""] = /^diff\s+(.+?)\s+to\s+(.+)$/i.exec(command) ?? [];
    if (a !== "") return this.#difference(a, b);
    const [, day = ""] = /^weekday\s+(?:of\s+)?(.+)$/i.exec(command) ?? [];
    if (day !== "") return ToolResult.success(weekday(this.#moment(day)));
    const shifted = this.#shifted(command);
    if (shifted !== undefined) return ToolResult.success(momentText(shifted));
    const present = this.#present(command);
    if (present === undefined)
      throw new InputProblem(`Unrecognized command. Supported: ${COMMANDS.join(" | ")}`);
    return ToolResult.success(isDate(present) ? momentText(present) : localText(present));
  }

  #convert(subject: string, from: string | undefined, to: string): ToolResult {
    const computed = this.#shifted(subject) ?? this.#present(subject);
    if (computed !== undefined && from !== undefined)
      throw new InputProblem(
        `'${shown(subject)}' has its own timezone: leave out 'from ${shown(from)}'`,
      );
    const time = computed ?? dateTimeOf(this.#temporal, subject, from);
    if (isDate(time))
      throw new InputProblem(`'${shown(subject)}' is a date and has no time to convert`);
    return ToolResult.success(localText(time.withTimeZone(zoneOf(this.#temporal, to))));
  }

  #difference(a: string, b: string): ToolResult {
    const { text, structured } = difference(this.#moment(a), this.#moment(b));
    return ToolResult.success(text, structured);
  }

  #moment(text: string): Moment {
    return this.#shifted(text) ?? this.#present(text) ?? momentOf(this.#temporal, text);
  }

  /** Returns a moment after one or more additions or subtractions. */
  #shifted(text: string): Moment | undefined {
    const [, moment = "", sign, amount = "", unit = ""] =
      /^(\S.*?)\s*([+-])\s*(\d+)\s+([a-z]+)$/i.exec(text) ?? [];
    return moment === ""
      ? undefined
      : shift(this.#moment(moment), sign === "-" ? "-" : "+", amount, unit);
  }

  /**
   * Returns the moment of `now` or `today`, with or without a zone. Returns `undefined` for other
   * texts.
   */
  #present(text: string): Moment | undefined {
    const [, word = "", zone = "UTC"] = /^(now|today)(?:\s+in\s+(.+))?$/i.exec(text) ?? [];
    if (word === "") return undefined;
    // checked before the clock, so that an error in the model's input is reported first
    const zoneId = zoneOf(this.#temporal, zone);
    const now = this.#clock().now();
    if (!(now instanceof Date) || Number.isNaN(now.getTime()))
      throw new ToolConfigurationError(
        `The clock of the datetime tool returned no time: ${preview(now)}`,
      );
    const time = this.#temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(
      zoneId,
    );
    return word.toLowerCase() === "now"
      ? time.round({ smallestUnit: "second", roundingMode: "floor" })
      : time.toPlainDate();
  }
}
