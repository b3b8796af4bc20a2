import type { RunValue } from "./run-info.js";
import type { Token } from "./token.js";
import { ValidationError } from "./errors.js";
import { MANY_TOKENS } from "./tokens.js";
import { tokenName } from "./token.js";
import { preview } from "./validation.js";

class GivenValue implements RunValue {
  private constructor(
    readonly token: unknown,
    readonly value: unknown,
  ) {
    Object.freeze(this);
  }

  /** @throws ValidationError as `runValue`. */
  static of<T>(token: Token<T>, value: T): GivenValue {
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
    return new GivenValue(token, value);
  }
}

/**
 * Creates a value for one run, passed as `run(inputs, { values: [runValue(User, user)] })`: a user,
 * a tenant, a connection. Code with access to the run reads it with `run.get(token)`. Runs that
 * join with `parent` have it too. It comes after the run's bindings and before everything else. It
 * is in no event, trace, recording, cache key or prompt.
 * @throws ValidationError for an invalid token, for a token that collects, and for `undefined` or
 * `null`.
 */
export function runValue<T>(token: Token<T>, value: NoInfer<T>): RunValue {
  return GivenValue.of(token, value);
}

/** @throws ValidationError for an invalid list of run values, and for two values of one token. */
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

/** Returns values by token. The values of a run replace those of the run that it joins. */
export function valuesByToken(
  values: readonly RunValue[],
  inherited: ReadonlyMap<unknown, unknown> = new Map(),
): ReadonlyMap<unknown, unknown> {
  return new Map([...inherited, ...values.map(({ token, value }) => [token, value] as const)]);
}
