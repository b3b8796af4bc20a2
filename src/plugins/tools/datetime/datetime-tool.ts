import type { Clock } from "../../../contracts/runtime.js";
import type { Tool, ToolContext } from "../../../contracts/tool.js";
import type { ToolResult } from "../../../contracts/tool-result.js";
import { ToolConfigurationError, ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { tool } from "../../../contracts/tool.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import { answering, readText } from "../shared/input-problem.js";
import { COMMANDS, DateTimeCommands } from "./commands.js";

/** Options of {@link dateTimeTool}. */
export interface DateTimeToolOptions {
  /** Source of `now` and `today`. Default: the run's `Tokens.Clock`. */
  readonly clock?: Clock | undefined;
}

const DESCRIPTION = [
  "Tells the time and computes with dates. One command per call:",
  ...COMMANDS.map((command) => `- ${command}`),
  "Dates are yyyy-MM-dd, datetimes yyyy-MM-ddTHH:mm:ss with Z, an offset (+02:00) or a zone in brackets, else UTC; zones are IANA names or offsets; now and today may stand for them. " +
    "Example: 2024-01-31 + 1 month",
].join("\n");

const MAX_LENGTH = 200;

function clockOf(own: Clock | undefined, ctx: ToolContext | undefined): Clock {
  if (own !== undefined) return own;
  try {
    if (ctx?.scope !== undefined) return ctx.scope.get(Tokens.Clock);
  } catch (error) {
    throw withoutClock(error);
  }
  throw withoutClock();
}

function withoutClock(cause?: unknown): ToolConfigurationError {
  return new ToolConfigurationError("The datetime tool has no clock", {
    cause,
    hint: "Outside a run give it one: dateTimeTool({ clock }).",
  });
}

async function answerQuestion(
  input: unknown,
  ctx: ToolContext,
  own: Clock | undefined,
): Promise<ToolResult> {
  const command = readText("Command", input, MAX_LENGTH);
  const { Temporal } = await import("temporal-polyfill");
  return new DateTimeCommands(Temporal, () => clockOf(own, ctx)).run(command);
}

/**
 * Creates the tool `datetime`. It takes one text: a command such as `now in Europe/Oslo`,
 * `2024-01-31 + 1 month`, `convert 2024-05-01T10:00:00 from UTC to Asia/Tokyo`,
 * `diff 2024-01-01 to 2024-03-01` or `weekday today`. Daylight saving changes follow the zone.
 * Printed offsets are those in effect at the printed time.
 * @throws ValidationError for an unknown option or a clock without `now`. A call throws
 * ToolConfigurationError if there is no clock.
 */
export function dateTimeTool(options: DateTimeToolOptions = {}): Tool {
  checkOptions("dateTimeTool()", options, ["clock"]);
  const { clock } = options;
  if (
    clock !== undefined &&
    typeof (clock as { readonly now?: unknown } | null)?.now !== "function"
  ) {
    throw new ValidationError(
      `dateTimeTool() clock must have a function now, got: ${preview(clock)}`,
    );
  }
  return tool({
    name: "datetime",
    description: DESCRIPTION,
    effect: "read",
    execute: (input: unknown, ctx) => answering(() => answerQuestion(input, ctx, clock)),
  });
}
