import type { RunValue, ValueOptions } from "./run-info.js";
import type { Token } from "./token.js";
import { ValidationError } from "./errors.js";
import { MANY_TOKENS } from "./tokens.js";
import { createToken, tokenName } from "./token.js";
import { checkOptions, preview, requireFunction } from "./validation.js";

class GivenValue implements RunValue {
  private constructor(
    readonly token: unknown,
    readonly value: unknown,
    /** Returns the representation of the value in the trace. */
    readonly traced: (() => unknown) | undefined,
  ) {
    Object.freeze(this);
  }

  /** @throws ValidationError as `runValue`. */
  static of<T>(token: Token<T>, value: T, { trace }: ValueOptions<T>): GivenValue {
    const name = tokenName(token);
    if (name === "" || (typeof token !== "symbol" && typeof token !== "function"))
      throw new ValidationError(`runValue() needs a token, got: ${preview(token)}`, {
        hint: "Make one with createToken(name).",
      });
    if ((MANY_TOKENS as readonly unknown[]).includes(token))
      throw new ValidationError(
        `Token '${name}' collects contributions and can't be a value of a run`,
        { hint: "Contribute with run(inputs, { bindings }) and many()." },
      );
    if (value === undefined || value === null)
      throw new ValidationError(`The run's value of '${name}' must not be ${String(value)}`);
    requireFunction(`The trace option of the run's value of '${name}'`, trace);
    return new GivenValue(token, value, trace === undefined ? undefined : () => trace(value));
  }
}

/**
 * Creates a value for one run, passed as `run(inputs, { values: [runValue(User, user)] })`: a user,
 * a tenant, a connection. Code with access to the run reads the value with `run.get(token)`. Runs
 * that join with `parent` also have the value. The value takes precedence over everything except
 * the run's bindings. Events, traces, recordings, cache keys and prompts never contain the value.
 * With the option `trace`, the trace contains the result of that function.
 *
 * @throws ValidationError for an invalid token, for a token that collects contributions, for
 * `undefined` or `null`, and for an unknown option.
 */
export function runValue<T>(
  token: Token<T>,
  value: NoInfer<T>,
  options: ValueOptions<NoInfer<T>> = {},
): RunValue {
  checkOptions("runValue()", options, ["trace"]);
  return GivenValue.of(token, value, options);
}

/** The representations of a run's values in traces, by the name of the token. */
export type TracedValues = ReadonlyMap<string, () => unknown>;

/** The token of the traced values of a run. */
export const TracedValuesToken = createToken<TracedValues>("engine/traced-values");

/**
 * @throws ValidationError for an invalid list of run values, and for two values of the same token.
 */
export function checkRunValues(values: unknown): void {
  if (values === undefined) return;
  if (!Array.isArray(values) || !values.every((value) => value instanceof GivenValue))
    throw new ValidationError(
      `run() values must be a list of run values, got: ${preview(values)}`,
      {
        hint: "Make each with runValue(token, value).",
      },
    );
  const tokens = (values as readonly RunValue[]).map(({ token }) => token);
  const twice = tokens.find((token, i) => tokens.indexOf(token) < i);
  if (twice !== undefined)
    throw new ValidationError(`run() values give token '${tokenName(twice)}' twice`);
}

/**
 * Returns values by token. The values of a run take precedence over the values of the run that it
 * joins.
 */
export function valuesByToken(
  values: readonly RunValue[],
  inherited: ReadonlyMap<unknown, unknown> = new Map(),
): ReadonlyMap<unknown, unknown> {
  const byToken = new Map([
    ...inherited,
    ...values.map(({ token, value }) => [token, value] as const),
  ]);
  const traced = new Map(inherited.get(TracedValuesToken) as TracedValues | undefined); // set below
  for (const value of values as readonly GivenValue[]) {
    if (value.traced === undefined) traced.delete(tokenName(value.token));
    else traced.set(tokenName(value.token), value.traced);
  }
  if (traced.size > 0) return byToken.set(TracedValuesToken, traced);
  byToken.delete(TracedValuesToken);
  return byToken;
}
