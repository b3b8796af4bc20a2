import type { Clock, ToolContext } from "agentensemble";
import {
  Ensemble,
  Task,
  Tokens,
  ToolConfigurationError,
  ToolResult,
  ValidationError,
} from "agentensemble";
import { toolContract } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { dateTimeTool } from "../../../../src/plugins/tools/datetime/index.js";
import { loneContext } from "../lone-context.js";

const clock: Clock = { now: () => new Date("2026-11-22T23:30:15.987Z"), monotonicMs: () => 0 };

async function tell(command: unknown): Promise<ToolResult> {
  const result: unknown = await dateTimeTool({ clock }).execute(command as string, loneContext());
  if (!ToolResult.isInstance(result)) throw new Error("no ToolResult");
  return result;
}

const ANSWERS: readonly (readonly [string, string])[] = [
  ["now", "2026-11-22T23:30:15 UTC"],
  ["NOW", "2026-11-22T23:30:15 UTC"],
  ["now in Europe/Oslo", "2026-11-23T00:30:15 Europe/Oslo"],
  ["Now In europe/oslo", "2026-11-23T00:30:15 Europe/Oslo"],
  ["now in +05:30", "2026-11-23T05:00:15 +05:30"],
  ["now in UTC-3", "2026-11-22T20:30:15 -03:00"],
  ["now in Z", "2026-11-22T23:30:15 UTC"],
  ["today", "2026-11-22"],
  ["today in Asia/Tokyo", "2026-11-23"],
  ["2024-01-31 + 1 month", "2024-02-29"],
  ["2023-01-31 + 1 MONTHS", "2023-02-28"],
  ["2024-03-31 - 1 month", "2024-02-29"],
  ["2024-02-29 + 1 year", "2025-02-28"],
  ["2024-01-15 + 3 days", "2024-01-18"],
  ["2024-01-15-3 days", "2024-01-12"],
  ["2024-01-15 + 2 weeks", "2024-01-29"],
  ["2024-01-01 - 1 day", "2023-12-31"],
  ["2024-01-31 + 1 month - 1 day", "2024-02-28"],
  ["today + 2 days", "2026-11-24"],
  ["today in Asia/Tokyo + 1 week", "2026-11-30"],
  ["now + 90 minutes", "2026-11-23T01:00:15Z"],
  ["2024-01-15T10:00:00 + 5 hours", "2024-01-15T15:00:00Z"],
  ["2024-01-15T10:00:00Z + 30 seconds", "2024-01-15T10:00:30Z"],
  ["2024-01-15T10:00Z + 1 hour", "2024-01-15T11:00:00Z"],
  ["2024-01-15T10:00:00.5Z + 1 second", "2024-01-15T10:00:01.5Z"],
  ["2024-01-15T10:00:00+02:00 + 1 hour", "2024-01-15T11:00:00+02:00"], // the offset it has, and no Z
  ["2024-01-15T10:00:00-0500 - 1 day", "2024-01-14T10:00:00-05:00"],
  ["2024-03-09T02:30:00[America/New_York] + 1 day", "2024-03-10T03:30:00-04:00[America/New_York]"], // 02:30 is left out that day
  [
    "2024-03-10T01:30:00-05:00[America/New_York] + 1 hour",
    "2024-03-10T03:30:00-04:00[America/New_York]",
  ],
  ["2024-11-03T00:30:00 America/New_York + 1 hour", "2024-11-03T01:30:00-04:00[America/New_York]"],
  ["2024-11-03T00:30:00 America/New_York + 2 hours", "2024-11-03T01:30:00-05:00[America/New_York]"],
  [
    "convert 2024-01-15T10:00:00 from America/New_York to Europe/London",
    "2024-01-15T15:00:00 Europe/London",
  ],
  ["convert 2024-01-15T10:00:00Z from America/New_York to UTC", "2024-01-15T15:00:00 UTC"],
  [
    "CONVERT 2024-03-10T02:30:00 FROM America/New_York TO America/New_York",
    "2024-03-10T03:30:00 America/New_York",
  ],
  ["convert 2024-11-03T01:30:00 from America/New_York to UTC", "2024-11-03T05:30:00 UTC"], // the first of the two
  ["convert 2024-01-15T10:00:00+02:00 to Asia/Kolkata", "2024-01-15T13:30:00 Asia/Kolkata"],
  ["convert 2026-11-22T23:30:15 Europe/Oslo to UTC", "2026-11-22T22:30:15 UTC"],
  ["convert now to Asia/Tokyo", "2026-11-23T08:30:15 Asia/Tokyo"],
  ["convert 2024-01-15T10:00:00 from +02:00 to -03:00", "2024-01-15T05:00:00 -03:00"],
  ["diff 2024-01-31 to 2025-03-01", "395 days (1 year, 1 month, 1 day)"],
  ["diff 2025-03-01 to 2024-01-31", "-395 days (1 year, 1 month, 1 day)"],
  ["diff 2024-01-01 to 2024-01-02", "1 day"],
  ["diff 2024-01-01 to 2024-01-01", "0 days"],
  ["diff today to 2026-12-24", "32 days (1 month, 2 days)"],
  [
    "diff 2024-01-01T00:00:00Z to 2024-01-02T03:03:04Z",
    "97384 seconds (1 day, 3 hours, 3 minutes, 4 seconds)",
  ],
  ["diff 2024-01-01T10:00:00+02:00 to 2024-01-01T08:00:01Z", "1 second"],
  ["diff 2024-01-01T00:00:10Z to 2024-01-01T00:00:00.5Z", "-9.5 seconds"],
  ["diff 2024-01-01 to 2024-01-01T12:00:00Z", "43200 seconds (12 hours)"],
  [
    "diff 2024-03-10T00:00:00[America/New_York] to 2024-03-11T00:00:00[America/New_York]",
    "82800 seconds (23 hours)",
  ],
  ["weekday 2024-01-31", "Wednesday"],
  ["weekday of today", "Sunday"],
  ["weekday today + 1 day", "Monday"],
  ["weekday 2026-11-22T23:30:15Z", "Sunday"],
  ["  2024-01-15   +   3   days  ", "2024-01-18"],
];

const FAILURES: readonly (readonly [unknown, string | RegExp])[] = [
  ["", "Command must not be blank"],
  [undefined, "Command must not be blank"],
  [{ a: 1 }, 'Command must be a text, got: {"a":1}'],
  ["x".repeat(201), "Command must not have more than 200 characters, got 201"],
  ["tomorrow", /^Unrecognized command\. Supported: now \| now in \{zone\}/],
  ["2024-01-15", /^Unrecognized command\. Supported: /],
  ["now in Nowhere/X", "Unknown timezone: 'Nowhere/X'"],
  ["now in New York", "Unknown timezone: 'New York'"],
  ["now in 2024-01-01T00:00[Europe/Oslo]", "Unknown timezone: '2024-01-01T00:00[Europe/Oslo]'"],
  ["now in +25:00", "Unknown timezone: '+25:00'"],
  ["convert 2024-01-15T10:00:00 from Mars to UTC", "Unknown timezone: 'Mars'"],
  ["convert 2024-01-15T10:00:00Z to Mars", "Unknown timezone: 'Mars'"],
  ["2024-02-30 + 1 day", "Invalid date format: '2024-02-30'. Expected yyyy-MM-dd"],
  ["2024-1-5 + 1 day", "Invalid date format: '2024-1-5'. Expected yyyy-MM-dd"],
  ["soon + 1 day", "Invalid date format: 'soon'. Expected yyyy-MM-dd"],
  ["weekday someday", "Invalid date format: 'someday'. Expected yyyy-MM-dd"],
  [
    "2024-01-15T25:00:00 + 1 hour",
    "Invalid datetime format: '2024-01-15T25:00:00'. Expected yyyy-MM-ddTHH:mm:ss[Z]",
  ],
  [
    "2024-02-30T10:00:00Z + 1 hour",
    "Invalid datetime format: '2024-02-30T10:00:00Z'. Expected yyyy-MM-ddTHH:mm:ss[Z]",
  ],
  [
    "convert 2024-01-15 from UTC to Asia/Tokyo",
    "Invalid datetime format: '2024-01-15'. Expected yyyy-MM-ddTHH:mm:ss[Z]",
  ],
  ["2024-01-15T10:00:00+05:00[Europe/Oslo] + 1 day", /^Invalid datetime format: /], // Oslo was never at +05:00
  [
    "convert 2024-01-15T10:00:00+02:00 from UTC to Asia/Tokyo",
    "'2024-01-15T10:00:00+02:00' has its own timezone: leave out 'from UTC'",
  ],
  ["convert now from UTC to Asia/Tokyo", "'now' has its own timezone: leave out 'from UTC'"],
  ["convert today to Asia/Tokyo", "'today' is a date and has no time to convert"],
  ["2024-01-15 + 5 hours", "Unsupported date unit: 'hours'. Use days, weeks, months, or years"],
  [
    "2024-01-15 + 5 constructor",
    "Unsupported date unit: 'constructor'. Use days, weeks, months, or years",
  ],
  ["2024-01-15T10:00:00 + 5 fortnights", "Unsupported datetime unit: 'fortnights'"],
  ["2024-01-15 + 2147483648 days", "Amount must not be more than 2147483647, got: 2147483648"],
  [
    `2024-01-15 + ${"9".repeat(50)} days`,
    `Amount must not be more than 2147483647, got: ${"9".repeat(50)}`,
  ],
  ["2024-01-15 + 2147483647 days", "Date/time error: the result is outside the years 0000 to 9999"],
  ["9999-12-31 + 1 day", "Date/time error: the result is outside the years 0000 to 9999"],
  [
    "0000-01-01T00:00:00Z - 1 second",
    "Date/time error: the result is outside the years 0000 to 9999",
  ],
];

describe("dateTimeTool", () => {
  for (const [command, text] of ANSWERS) {
    it(`answers "${command}" with "${text}"`, async () => {
      const { errorMessage, output } = await tell(command);
      expect(errorMessage).to.equal(undefined);
      expect(output).to.equal(text);
    });
  }

  for (const [command, message] of FAILURES) {
    it(`fails for ${JSON.stringify(command)?.slice(0, 60)}`, async () => {
      const { ok, errorMessage } = await tell(command);
      expect(ok).to.equal(false);
      if (typeof message === "string") expect(errorMessage).to.equal(message);
      else expect(errorMessage).to.match(message);
    });
  }

  it("returns differences also as numbers", async () => {
    expect((await tell("diff 2024-01-31 to 2025-03-01")).structured).to.deep.equal({ days: 395 });
    expect(
      (await tell("diff 2024-01-01T00:00:10Z to 2024-01-01T00:00:00.5Z")).structured,
    ).to.deep.equal({ seconds: -9.5 });
  });

  it("computes days like the system's dates, forwards and backwards", async () => {
    const day = fc
      .date({ min: new Date("1900-01-01"), max: new Date("2400-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10));
    await fc.assert(
      fc.asyncProperty(day, fc.nat(100_000), async (date, days) => {
        const { output } = await tell(`${date} + ${days} days`);
        expect(output).to.equal(
          new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10),
        );
        expect((await tell(`${output} - ${days} days`)).output).to.equal(date);
        expect((await tell(`diff ${date} to ${output}`)).structured).to.deep.equal({ days });
      }),
    );
  });

  it("reads its own output", async () => {
    for (const moment of [
      "2024-07-01T10:00:00Z",
      "2024-07-01T10:00:00+02:00",
      "2024-11-03T01:30:00-05:00[America/New_York]",
    ]) {
      const moved = await tell(`${moment} + 1 hour`);
      expect((await tell(`${moved.output} - 1 hour`)).output).to.equal(moment);
    }
  });

  it("answers every text with a result", async () => {
    const pieces = fc.constantFrom(
      "now",
      "today",
      " in ",
      " to ",
      " from ",
      "convert ",
      "diff ",
      "weekday ",
      "2024-01-31",
      "T10:00:00",
      "Z",
      "+02:00",
      " + ",
      " - ",
      "1",
      " day",
      "UTC",
      "[",
      "]",
    );
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((list) => list.join("")),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(text, async (command) => void (await tell(command))),
      { numRuns: 500 },
    );
  });

  it("uses the run's clock by default", async () => {
    const tool = dateTimeTool();
    const year = new Task({ name: "year", description: "today", handler: tool });
    await using ensemble = new Ensemble({ tasks: [year] });
    const then: Clock = {
      now: () => new Date("1999-12-31T12:00:00Z"),
      monotonicMs: () => performance.now(),
    };
    const output = await ensemble.run(
      {},
      {
        bindings: (bind) =>
          void bind.single(Tokens.Clock, { override: true }).toConstantValue(then),
      },
    );
    expect(output.raw).to.equal("1999-12-31");
  });

  it("requires a clock for the present only", async () => {
    const alone = {} as ToolContext; // as in a call by hand
    expect(
      ToolResult.isInstance(await dateTimeTool().execute("weekday 2024-01-31", alone)),
    ).to.equal(true);
    const failure: unknown = await Promise.resolve(dateTimeTool().execute("today", alone)).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(ToolConfigurationError);
    const broken = dateTimeTool({
      clock: { now: () => new Date(Number.NaN), monotonicMs: () => 0 },
    });
    expect(
      await Promise.resolve(broken.execute("now", alone)).catch((error: unknown) => error),
    ).to.be.instanceOf(ToolConfigurationError);
  });

  it("refuses invalid options, and an invalid clock", () => {
    expect(() => dateTimeTool({ clok: clock } as never)).to.throw(ValidationError, "'clock'");
    expect(() => dateTimeTool({ clock: 5 } as never)).to.throw(
      ValidationError,
      "must have a function now, got: 5",
    );
    expect(() => dateTimeTool({ clock: null } as never)).to.throw(ValidationError);
  });
});

toolContract("datetime", {
  create: () => dateTimeTool({ clock }),
  valid: ["now in Europe/Oslo", "2024-01-31 + 1 month", "diff 2024-01-01 to 2024-02-01"],
  failing: ["", "now in Nowhere/X", "2024-02-30 + 1 day"],
});
