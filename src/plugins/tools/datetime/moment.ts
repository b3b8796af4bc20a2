import type { Temporal } from "temporal-polyfill";
import { InputProblem, shown } from "../shared/input-problem.js";

/** The namespace of the polyfill, which the first call loads. */
export type TemporalApi = typeof Temporal;

/** A calendar day, or a point in time with the zone in which it was given. */
export type Moment = Temporal.PlainDate | Temporal.ZonedDateTime;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/**
 * A local time followed by an offset, a zone in brackets or after a space, or several of these.
 * Matches the tool's own output too.
 */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?(?:\[([^\]]+)\]|\s+(\S+))?$/;
/**
 * A name such as Europe/Oslo, or an offset. The polyfill would also accept a full date and extract
 * its zone.
 */
const ZONE = /^(?:[A-Za-z][\w+\-/]*|[+-]\d{2}(?::?\d{2})?)$/;
const NAMED_OFFSET = /^(?:UTC|GMT)([+-])(\d{1,2})(?::?(\d{2}))?$/i;

function orProblem<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch {
    throw new InputProblem(problem); // Temporal's message adds nothing for the model
  }
}

/**
 * Returns the zone's id as it is printed. Accepts `Z`, offsets (`+02:00`, `UTC+2`) and IANA names
 * in any case.
 * @throws InputProblem
 */
export function zoneOf(temporal: TemporalApi, text: string): string {
  const problem = `Unknown timezone: '${shown(text)}'`;
  const [, sign = "", hours = "", minutes = "00"] = NAMED_OFFSET.exec(text) ?? [];
  const name =
    sign !== "" ? `${sign}${hours.padStart(2, "0")}:${minutes}` : /^z$/i.test(text) ? "UTC" : text;
  if (!ZONE.test(name)) throw new InputProblem(problem);
  return orProblem(
    () => temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId,
    problem,
  );
}

/** @throws InputProblem if the text is not a date */
function dateOf(temporal: TemporalApi, text: string): Temporal.PlainDate {
  const problem = `Invalid date format: '${shown(text)}'. Expected yyyy-MM-dd`;
  if (!DATE.test(text)) throw new InputProblem(problem);
  return orProblem(() => temporal.PlainDate.from(text), problem);
}

/**
 * Parses a point in time. Without an offset or a zone it is in UTC. `from` sets the zone of a local
 * time and overrides a `Z`. A local time that a daylight saving change skips is moved forward by
 * the gap. If a local time occurs twice, the earlier one is used.
 * @throws InputProblem
 */
export function dateTimeOf(
  temporal: TemporalApi,
  text: string,
  from?: string,
): Temporal.ZonedDateTime {
  const problem = `Invalid datetime format: '${shown(text)}'. Expected yyyy-MM-ddTHH:mm:ss[Z]`;
  const match = DATE_TIME.exec(text);
  if (match === null) throw new InputProblem(problem);
  const [, local = "", offset = "", bracketed, named] = match;
  const own = bracketed ?? named;
  if (from !== undefined) {
    if (own !== undefined || (offset !== "" && offset !== "Z")) {
      throw new InputProblem(
        `'${shown(text)}' has its own timezone: leave out 'from ${shown(from)}'`,
      );
    }
    const zone = zoneOf(temporal, from);
    return orProblem(() => temporal.PlainDateTime.from(local).toZonedDateTime(zone), problem);
  }
  const zone =
    own !== undefined
      ? zoneOf(temporal, own)
      : offset === "" || offset === "Z"
        ? "UTC"
        : zoneOf(temporal, offset);
  return orProblem(() => temporal.ZonedDateTime.from(`${local}${offset}[${zone}]`), problem);
}

/**
 * Parses a date, or a datetime if the text contains a `T` or a `Z`.
 * @throws InputProblem
 */
export function momentOf(temporal: TemporalApi, text: string): Moment {
  return /[TZ]/.test(text) ? dateTimeOf(temporal, text) : dateOf(temporal, text);
}

export function isDate(moment: Moment): moment is Temporal.PlainDate {
  return !("timeZoneId" in moment);
}

/**
 * Formats `2024-01-31`, or `2024-01-31T10:00:00Z` with the actual offset and the zone's name if
 * there is one. `momentOf` can parse the result.
 */
export function momentText(moment: Moment): string {
  if (isDate(moment)) return moment.toString();
  if (moment.timeZoneId === "UTC") return `${moment.toPlainDateTime().toString()}Z`;
  return moment.toString(/^[+-]/.test(moment.timeZoneId) ? { timeZoneName: "never" } : {});
}

/** Formats `2024-01-31T10:00:00 Europe/Oslo`: the local time in whole seconds and the zone's id. */
export function localText(time: Temporal.ZonedDateTime): string {
  return `${time.toPlainDateTime().toString({ smallestUnit: "second" })} ${time.timeZoneId}`;
}
