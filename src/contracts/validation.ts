import { ValidationError } from "./errors.js";
import { REDACTED } from "../util/json/to-json-value.js";
import { isObject } from "../util/objects.js";
import { isSecretField, redactShapes } from "../util/redaction/secret-shapes.js";

/** The number of single-character edits between two short names. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The maximum number of edits that count as a typing mistake. */
const MOST_EDITS = 3;

/**
 * Returns the candidate that is closest to `name` (ignoring case), if the difference is a probable
 * typing mistake. A typing mistake has at most three edits, in at most half of the characters. It
 * does not change all characters.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(MOST_EDITS, Math.max(1, Math.floor(name.length / 2))) + 1;
  for (const candidate of candidates) {
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue;
    const d = distance(name.toLowerCase().slice(0, 100), candidate.toLowerCase().slice(0, 100));
    if (d < bestDistance && d < Math.max(name.length, candidate.length))
      [best, bestDistance] = [candidate, d];
  }
  return best;
}

/** The number of names above which a message does not list them. */
const MANY = 10;

/**
 * Returns `Did you mean 'b'? Known: a, b, c.`: the end of every message about an unknown name.
 * Lists at most ten names. For more names, `where` refers to the full list.
 */
export function knownNames(name: string, candidates: readonly string[], where = ""): string {
  if (candidates.length === 0) return "None is registered.";
  const nearest = nearestName(name, candidates);
  const more = candidates.length - MANY;
  const listed = candidates.slice(0, MANY).join(", ");
  const known = more > 0 ? `${listed} and ${more} more${where}.` : `${listed}.`;
  return `${nearest === undefined || nearest === name ? "" : `Did you mean '${nearest}'? `}Known: ${known}`;
}

function withoutSecret(name: string, value: unknown): unknown {
  return typeof value === "string" && isSecretField(name) ? REDACTED : value;
}

/** Returns the class of an object without JSON fields, such as a promise or a set. */
function emptyPreview(value: object | null): string {
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return kind === "Object" ? "{}" : `a ${kind}`;
}

/**
 * Returns a value in the form used in messages: as JSON if possible, without secrets, cut at 200
 * characters.
 */
export function preview(value: unknown, limit = 200): string {
  let text: string;
  try {
    text =
      typeof value === "string"
        ? value.trim() === ""
          ? JSON.stringify(value)
          : value
        : typeof value === "function"
          ? `function ${value.name}`
          : typeof value === "number"
            ? String(value) // JSON has no NaN and no Infinity
            : (JSON.stringify(value, withoutSecret) ?? String(value));
    if (text === "{}" && typeof value === "object") text = emptyPreview(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  text = redactShapes(text);
  return text.length > limit ? `${text.slice(0, limit)}...` : text;
}

/**
 * Refuses an options object with unknown fields. `synonyms` maps option names of other frameworks
 * to the corresponding option.
 *
 * @throws ValidationError with the first unknown field, and its synonym or the nearest known field.
 */
export function checkOptions(
  what: string,
  options: unknown,
  known: readonly string[],
  synonyms: Readonly<Record<string, string>> = {},
): void {
  if (!isObject(options)) {
    throw new ValidationError(`${what} options must be an object, got: ${preview(options)}`);
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const advice = Object.hasOwn(synonyms, key)
      ? `Use ${synonyms[key]} instead.`
      : knownNames(key, known, ", all in the type of these options");
    throw new ValidationError(`Unknown option '${key}' in ${what}. ${advice}`);
  }
}

/** @throws ValidationError unless `value` is a non-blank string. */
export function requireText(value: unknown, message: string): void {
  if (typeof value !== "string" || value.trim() === "") throw new ValidationError(message);
}

/**
 * @throws ValidationError `{what} must be {rule}, got: {value}` unless `value` is absent or an
 * integer of at least `min`.
 */
export function requireInteger(
  what: string,
  value: unknown,
  min: number,
  rule = `>= ${min}`,
): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min) {
    throw new ValidationError(`${what} must be ${rule}, got: ${preview(value)}`);
  }
}

/**
 * @throws ValidationError unless `value` is absent or a number of milliseconds above 0, up to the
 * maximum of a timer.
 */
export function requireDuration(what: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !(value > 0) || value > 2_147_483_647) {
    throw new ValidationError(
      `${what} must be a positive number of milliseconds (at most 2147483647), got: ${preview(value)}`,
    );
  }
}

/**
 * @throws ValidationError unless `value` is absent or a number of milliseconds from 0 to the
 * maximum of a timer.
 */
export function requireDelay(what: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !(value >= 0) || value > 2_147_483_647) {
    throw new ValidationError(
      `${what} must be a number of milliseconds from 0 to 2147483647, got: ${preview(value)}`,
    );
  }
}

/** @throws ValidationError unless `value` is absent, true or false. */
export function requireBoolean(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== "boolean")
    throw new ValidationError(`${what} must be true or false, got: ${preview(value)}`);
}

/** @throws ValidationError unless `value` is absent or an array. */
export function requireArray(what: string, value: unknown): void {
  if (value !== undefined && !Array.isArray(value))
    throw new ValidationError(`${what} must be an array, got: ${preview(value)}`);
}

/** @throws ValidationError unless `value` is absent or a function. */
export function requireFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function")
    throw new ValidationError(`${what} must be a function, got: ${preview(value)}`);
}

/** @throws ValidationError unless `value` is absent or one of `allowed`. */
export function requireOneOf(what: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || (typeof value === "string" && allowed.includes(value))) return;
  throw new ValidationError(
    `${what} must be one of ${allowed.map((name) => `"${name}"`).join(", ")}, got: ${preview(value)}`,
  );
}

/**
 * @throws ValidationError unless `value` is an instance of the class. `what` is the option. `name`
 * is the name of the class, because bundlers may rename classes. The hint names the mistake: an
 * object of another copy of the package, or a plain object.
 */
export function requireInstance(
  what: string,
  value: unknown,
  { type, name }: { readonly type: abstract new (...args: never) => object; readonly name: string },
): void {
  if (value instanceof type) return;
  const isPlain = Object.getPrototypeOf(value ?? 0) === Object.prototype;
  const isOfCopy = isObject(value) && value.constructor?.name === name;
  throw new ValidationError(
    `${what} must be ${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}, got: ${preview(value)}`,
    {
      ...(isPlain && { hint: `Create it: new ${name}({ ... }).` }),
      ...(isOfCopy && {
        hint: "It was created by another copy of agentensemble. Install one copy; `npm ls agentensemble` lists them.",
      }),
    },
  );
}
