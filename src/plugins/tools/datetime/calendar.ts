import type { Temporal } from "temporal-polyfill";
import type { Moment } from "./moment.js";
import { InputProblem, shown } from "../shared/input-problem.js";
import { isDate } from "./moment.js";

/** The largest amount that can be added, in any unit: the maximum of a 32-bit integer. */
const MAX_AMOUNT = 2_147_483_647;

const DATE_UNITS = ["days", "weeks", "months", "years"] as const;
const TIME_UNITS = ["hours", "minutes", "seconds"] as const;
type Unit = (typeof DATE_UNITS)[number] | (typeof TIME_UNITS)[number];

const WEEKDAYS = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
] as const;

function unitOf(text: string, date: boolean): Unit {
  const name = text.toLowerCase().replace(/s$/, "");
  const unit = [...DATE_UNITS, ...(date ? [] : TIME_UNITS)].find((known) => known === `${name}s`);
  if (unit !== undefined) return unit;
  throw new InputProblem(
    date
      ? `Unsupported date unit: '${shown(text)}'. Use days, weeks, months, or years`
      : `Unsupported datetime unit: '${shown(text)}'`,
  );
}

/**
 * Moves a moment by an amount of one unit. The day is limited to the last day of the target month:
 * January 31 plus one month is the end of February.
 * @throws InputProblem
 */
export function shift(moment: Moment, sign: "+" | "-", amount: string, unitText: string): Moment {
  const unit = unitOf(unitText, isDate(moment));
  if (Number(amount) > MAX_AMOUNT)
    throw new InputProblem(`Amount must not be more than ${MAX_AMOUNT}, got: ${shown(amount)}`);
  const duration = { [unit]: Number(amount) * (sign === "+" ? 1 : -1) };
  let moved: Moment | undefined;
  try {
    moved = moment.add(duration);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  if (moved === undefined || moved.year < 0 || moved.year > 9_999)
    throw new InputProblem("Date/time error: the result is outside the years 0000 to 9999");
  return moved;
}

export function weekday(moment: Moment): string {
  return WEEKDAYS[moment.dayOfWeek - 1] ?? "";
}

type DurationPart = readonly [amount: number, unit: string];

const amountText = ([amount, unit]: DurationPart): string =>
  `${amount} ${amount === 1 ? unit : `${unit}s`}`;

/**
 * Formats `395 days (1 year, 1 month, 1 day)`: the total in one unit, followed by its larger units.
 */
function totalText(
  backwards: boolean,
  total: DurationPart,
  parts: readonly DurationPart[],
): string {
  const text = amountText(total);
  const split = parts
    .filter(([amount]) => amount !== 0)
    .map(amountText)
    .join(", ");
  return `${backwards ? "-" : ""}${text}${split === "" || split === text ? "" : ` (${split})`}`;
}

/**
 * Returns the time between two moments. Between two dates the unit is days. Otherwise it is elapsed
 * seconds, and a date counts as its midnight in UTC. Negative if the second moment is earlier.
 */
export function difference(
  from: Moment,
  to: Moment,
): { readonly text: string; readonly structured: object } {
  return isDate(from) && isDate(to) ? daysBetween(from, to) : secondsBetween(from, to);
}

function daysBetween(
  from: Temporal.PlainDate,
  to: Temporal.PlainDate,
): { readonly text: string; readonly structured: object } {
  const { days } = from.until(to, { largestUnit: "day" });
  const split = from.until(to, { largestUnit: "year" }).abs();
  const parts: readonly DurationPart[] = [
    [split.years, "year"],
    [split.months, "month"],
    [split.days, "day"],
  ];
  return { text: totalText(days < 0, [Math.abs(days), "day"], parts), structured: { days } };
}

function secondsBetween(
  from: Moment,
  to: Moment,
): { readonly text: string; readonly structured: object } {
  const [start, end] = [from, to].map(
    (moment) => (isDate(moment) ? moment.toZonedDateTime("UTC") : moment).epochNanoseconds,
  );
  const nanoseconds = (end ?? 0n) - (start ?? 0n);
  const length = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const whole = Number(length / 1_000_000_000n);
  const fraction = Number(length % 1_000_000_000n) / 1e9;
  const parts: readonly DurationPart[] = [
    [Math.floor(whole / 86_400), "day"],
    [Math.floor(whole / 3_600) % 24, "hour"],
    [Math.floor(whole / 60) % 60, "minute"],
    [(whole % 60) + fraction, "second"],
  ];
  const seconds = whole + fraction;
  return {
    text: totalText(nanoseconds < 0n, [seconds, "second"], parts),
    structured: { seconds: nanoseconds < 0n ? -seconds : seconds },
  };
}
