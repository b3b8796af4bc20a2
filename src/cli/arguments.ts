import { accessSync, constants, existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ValidationError } from "../contracts/errors.js";
import { knownNames, preview } from "../contracts/validation.js";
import { lineOf } from "../util/json/locate.js";
import { isRefusedKey } from "../util/json/refused-keys.js";
import { isObject } from "../util/objects.js";
import { messageOf } from "../util/errors.js";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of `500ms`, `30s`, `5m`, `1.5h`. @throws ValidationError */
export function durationOf(option: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim());
  const ms = Math.round(Number(match?.[1]) * (UNITS[match?.[2] ?? ""] ?? Number.NaN));
  if (ms > 0 && ms <= 2_147_483_647) return ms;
  throw new ValidationError(
    `${option} must be a duration greater than 0 and at most 24 days, got: ${preview(text)}`,
    {
      hint: "Write a number and a unit: 500ms, 30s, 5m or 1h.",
    },
  );
}

const AGES: Readonly<Record<string, number>> = { ...UNITS, d: 86_400_000, w: 604_800_000 };

/** Returns the milliseconds of `30m`, `12h`, `7d`, `2w`. @throws ValidationError */
export function ageOf(option: string, text: string): number {
  const match = /^(\d{1,6}(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim());
  if (match !== null) return Math.round(Number(match[1]) * (AGES[match[2] ?? ""] ?? Number.NaN));
  throw new ValidationError(`${option} must be an age, got: ${preview(text)}`, {
    hint: "Write a number and a unit: 30m, 12h, 7d or 2w.",
  });
}

/** Returns the port of `--port`. @throws ValidationError */
export function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new ValidationError(`--port must be a number from 0 to 65535, got: ${preview(text)}`);
  return Number(text);
}

/** Returns the tags of texts `name=value`. @throws ValidationError */
export function tagsOf(given: readonly string[]): Readonly<Record<string, string>> {
  const pairs = given.map((pair): readonly [string, string] => {
    const at = pair.indexOf("=");
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
    throw new ValidationError(`--tag must be name=value, got: ${preview(pair)}`, {
      hint: "For instance --tag person=ana.",
    });
  });
  return Object.fromEntries(pairs);
}

/**
 * @throws ValidationError if no file can be created at `path`, as far as this can be checked
 * without creating one.
 */
export function checkTraceFile(path: string): void {
  const problem = placeProblem(resolve(path));
  if (problem === undefined) return;
  throw new ValidationError(`--trace: can't write ${preview(path)}: ${problem}`, {
    hint: "Name a file in a folder that this process may write to.",
  });
}

function placeProblem(path: string): string | undefined {
  if (existsSync(path)) return statSync(path).isFile() ? undefined : "it is not a file";
  const folder = nearestFolder(path);
  if (!statSync(folder).isDirectory()) return `${folder} is not a folder`;
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the nearest existing folder of a path. Missing folders are created later. */
function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : nearestFolder(folder);
}

async function textOfFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new ValidationError(`${option}: can't read ${preview(path)}`, {
      cause,
      hint: "Paths are relative to the current folder.",
    });
  }
}

/**
 * Parses `name=value`. `name=@file`: the text of a file. `name=@@text`: a text that begins with an
 * @.
 */
async function argumentPair(argument: string): Promise<readonly [string, string]> {
  const at = argument.indexOf("=");
  const name = argument.slice(0, Math.max(at, 0)).trim();
  if (name === "")
    throw new ValidationError(`--input must be name=value, got: ${preview(argument)}`, {
      hint: "For instance --input topic=otters or --input text=@notes.txt.",
    });
  return [name, await textGiven(`--input ${name}`, argument.slice(at + 1))];
}

/**
 * Returns a text of the command line. `@file`: the text of a file. `@@text`: a text that begins
 * with an @.
 * @throws ValidationError for a file that can't be read.
 */
export async function textGiven(option: string, value: string): Promise<string> {
  if (value.startsWith("@@")) return value.slice(1);
  return value.startsWith("@") ? textOfFile(option, value.slice(1)) : value;
}

async function fileInputs(path: string): Promise<readonly (readonly [string, unknown])[]> {
  const text = await textOfFile("--inputs", path);
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (cause) {
    throw new ValidationError(
      `--inputs ${path} is not JSON, from line ${lineOf(text)}: ${messageOf(cause)}`,
      {
        hint: 'It must be an object: { "topic": "otters" }.',
      },
    );
  }
  if (isObject(values)) return Object.entries(values);
  throw new ValidationError(`--inputs ${path} must be a JSON object, got: ${preview(values)}`, {
    hint: 'For instance { "topic": "otters" }.',
  });
}

/** Returns the names of the inputs of `--input`. Their values are texts. */
export function namesGiven(input: readonly string[] | undefined): ReadonlySet<string> {
  return new Set(input?.map((pair) => pair.slice(0, Math.max(pair.indexOf("="), 0)).trim()));
}

/**
 * Returns the inputs of a run: the inputs of the file, overridden by single inputs.
 * @throws ValidationError
 */
export async function inputsOf(o: {
  readonly input?: readonly string[] | undefined;
  readonly inputs?: string | undefined;
}): Promise<Readonly<Record<string, unknown>>> {
  const pairs = [
    ...(o.inputs === undefined ? [] : await fileInputs(o.inputs)),
    ...(await Promise.all((o.input ?? []).map(argumentPair))),
  ];
  const unsafe = pairs.find(([name]) => isRefusedKey(name));
  if (unsafe !== undefined)
    throw new ValidationError(`An input can't be named ${preview(unsafe[0])}`);
  return Object.fromEntries(pairs);
}

/**
 * @throws ValidationError for the first `--input` that the team does not read. `known` is undefined
 * if the inputs are unknown.
 */
export function checkInputNames(
  given: readonly string[] | undefined,
  known: readonly string[] | undefined,
): void {
  if (known === undefined) return;
  for (const name of namesGiven(given))
    if (!known.includes(name))
      throw new ValidationError(
        `--input ${name}: no template of this team has a variable {${name}}. ${known.length === 0 ? "It has none." : knownNames(name, known)}`,
        { hint: "An input that only code reads is declared in `inputs` of the ensemble." },
      );
}
