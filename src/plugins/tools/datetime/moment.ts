import type { Temporal } from "temporal-polyfill";
import { InputProblem, shown } from "../shared/input-problem.js";

/** The polyfill's namespace; it is loaded with the first call. */
export type TemporalApi = typeof Temporal;

/** A calendar day, or a point in time together with the zone in which it was given. */
export type Moment = Temporal.PlainDate | Temporal.ZonedDateTime;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** A local time, then an offset, a zone in brackets or after a space, or several of them: also what the tool itself writes. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?(?:\[([^\]]+)\]|\s+(\S+))?$/;
/** A name such as Europe/Oslo, or an offset; the polyfill would also take the zone out of a whole date. */
const ZONE = /^(?:[A-Za-z][\w+\-/]*|[+-]\d{2}(?::?\d{2})?)$/;
const NAMED_OFFSET = /^(?:UTC|GMT)([+-])(\d{1,2})(?::?(\d{2}))?$/i;

function orProblem<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch {
    throw new InputProblem(problem); // all that Temporal has to say of a text is that it is none of its own
  }
}

/** The zone's id as it is printed. `Z`, offsets (`+02:00`, `UTC+2`) and IANA names in any case are taken. @throws InputProblem */
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

/** @throws InputProblem */
function dateOf(temporal: TemporalApi, text: string): Temporal.PlainDate {
  const problem = `Invalid date format: '${shown(text)}'. Expected yyyy-MM-dd`;
  if (!DATE.test(text)) throw new InputProblem(problem);
  return orProblem(() => temporal.PlainDate.from(text), problem);
}

/**
 * A point in time; without an offset or a zone it is in UTC. `from` gives the zone of a local time instead (a `Z` then says nothing).
 * A local time that a change of the clocks leaves out is moved on by the gap; of one that happens twice the first is taken.
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
        `'${shown(text)}' has a timezone of its own: leave out 'from ${shown(from)}'`,
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

/** A date, or a datetime where the text has a `T` or a `Z` in it. @throws InputProblem */
export function momentOf(temporal: TemporalApi, text: string): Moment {
  return /[TZ]/.test(text) ? dateTimeOf(temporal, text) : dateOf(temporal, text);
}

export function isDate(moment: Moment): moment is Temporal.PlainDate {
  return !("timeZoneId" in moment);
}

/** `2024-01-31`; `2024-01-31T10:00:00Z`, or the real offset, with the name of the zone where it has one: a text that `momentOf` reads. */
export function momentText(moment: Moment): string {
  if (isDate(moment)) return moment.toString();
  if (moment.timeZoneId === "UTC") return `${moment.toPlainDateTime().toString()}Z`;
  return moment.toString(/^[+-]/.test(moment.timeZoneId) ? { timeZoneName: "never" } : {});
}

/** `2024-01-31T10:00:00 Europe/Oslo`: the local time, whole seconds, and the zone's id. */
export function localText(time: Temporal.ZonedDateTime): string {
  return `${time.toPlainDateTime().toString({ smallestUnit: "second" })} ${time.timeZoneId}`;
}
