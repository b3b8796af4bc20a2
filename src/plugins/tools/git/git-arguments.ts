import { knownNames, nearestName, preview } from "../../../contracts/validation.js";
import type { GitCommand } from "./git-commands.js";
import { GIT_COMMANDS } from "./git-commands.js";

/** The arguments of one call, as the model sends them. */
export interface GitRequest {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly message?: string | undefined;
}

/** A checked call. Its paths are checked separately. */
export interface GitCall {
  /** The command. For `stash` it includes the subcommand. */
  readonly name: string;
  readonly spec: GitCommand;
  /** Options as git receives them. */
  readonly options: readonly string[];
  readonly operands: readonly string[];
  readonly paths: readonly string[];
  readonly reads: boolean;
}

/** A call, or a message for the model that explains why the request is invalid. */
export type ReadGitRequest =
  { readonly ok: true; readonly call: GitCall } | { readonly ok: false; readonly problem: string };

/** Rejects an argument that is not allowed. */
class ArgumentRefusal extends Error {}

const SHOWN_OPTIONS = 15;
/**
 * Limit in characters. Checked here because some vendors' strict modes reject a schema with
 * `maxLength`.
 */
const LONGEST_ARGUMENT = 4_096;
const LONGEST_MESSAGE = 20_000;
/** Name of a configured remote. Matches neither an address nor a folder. */
const REMOTE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const MERGE_STRATEGY_OPTIONS = new Set([
  "ours",
  "theirs",
  "ignore-space-change",
  "ignore-all-space",
  "ignore-space-at-eol",
  "patience",
  "histogram",
  "no-renames",
]);

/**
 * Parses a request for one of the `allowed` commands. Accepts only options on the command's list,
 * so no option can name a program or a file.
 */
export function readGitRequest(request: GitRequest, allowed: readonly string[]): ReadGitRequest {
  try {
    return { ok: true, call: callOf(request, allowed) };
  } catch (error) {
    if (error instanceof ArgumentRefusal) return { ok: false, problem: error.message };
    throw error;
  }
}

function callOf(
  { command, args = [], paths: given = [], message }: GitRequest,
  allowed: readonly string[],
): GitCall {
  if (!allowed.includes(command))
    throw new ArgumentRefusal(
      `Unknown git command: ${preview(command)}. Allowed: ${[...allowed].sort().join(", ")}`,
    );
  const long = [...args, ...given].find((text) => text.length > LONGEST_ARGUMENT);
  if (long !== undefined)
    throw new ArgumentRefusal(
      `Arguments must not have more than ${LONGEST_ARGUMENT} characters, got: ${preview(long)}`,
    );
  const { name, spec, rest } = specOf(command, args);
  const end = rest.indexOf("--");
  const { options, operands: found } = split(name, spec, end < 0 ? rest : rest.slice(0, end));
  const operandsArePaths = spec.operands === "paths";
  const paths = [
    ...(operandsArePaths ? found : []),
    ...(end < 0 ? [] : rest.slice(end + 1)),
    ...given,
  ];
  const operands = operandsArePaths ? [] : found;
  if (paths.length > 0 && !spec.paths)
    throw new ArgumentRefusal(`git ${name} does not accept paths`);
  [...operands, ...paths].forEach(checkOperand);
  const [first] = operands;
  if (spec.remote && first !== undefined && !REMOTE.test(first))
    throw new ArgumentRefusal(
      `git ${name} takes the name of a configured remote, got: ${preview(first)}`,
    );
  const texts = message === undefined ? [] : [messageOption(name, spec, message)];
  return {
    name,
    spec,
    options: [...options, ...texts],
    operands,
    paths,
    reads: onlyReads(spec, options, operands),
  };
}

function specOf(
  command: string,
  args: readonly string[],
): { readonly name: string; readonly spec: GitCommand; readonly rest: readonly string[] } {
  const [first] = args;
  const hasAction = command === "stash" && first !== undefined && !first.startsWith("-");
  const name = command !== "stash" ? command : `stash ${hasAction ? first : "push"}`;
  const spec = GIT_COMMANDS.get(name);
  if (spec !== undefined) return { name, spec, rest: hasAction ? args.slice(1) : args };
  const actions = [...GIT_COMMANDS.keys()]
    .filter((key) => key.startsWith("stash "))
    .map((key) => key.slice("stash ".length));
  throw new ArgumentRefusal(
    `Unknown action of git stash: '${preview(first)}'. ${knownNames(first ?? "", actions)}`,
  );
}

function split(
  name: string,
  spec: GitCommand,
  args: readonly string[],
): { readonly options: readonly string[]; readonly operands: readonly string[] } {
  const queue = [...args];
  const options: string[] = [];
  const operands: string[] = [];
  for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
    if (!arg.startsWith("-")) operands.push(arg);
    else options.push(...optionOf(name, spec, arg, queue));
  }
  return { options, operands };
}

/**
 * Returns the option that begins with `arg`, in one piece. Its value may be the next element of the
 * `queue`.
 */
function optionOf(
  name: string,
  { options }: GitCommand,
  arg: string,
  queue: string[],
): readonly string[] {
  if (options.has(arg) || (options.has("-1") && /^-\d{1,9}$/.test(arg))) return [arg];
  const takesValue = (key: string): boolean => options.has(`${key}=`) || options.has(`${key}[=]`);
  const short = arg.slice(0, 2);
  const isJoinedShort = !arg.startsWith("--") && arg.length > 2 && takesValue(short); // -n5, -uall
  const [, key = arg, joined] = isJoinedShort
    ? [arg, short, arg.slice(2)]
    : (/^(--[a-z-]+)=([^]*)$/.exec(arg) ?? []);
  if (options.has(`${key}[=]`)) return [joined === undefined ? key : valued(name, key, joined)];
  if (options.has(`${key}=`)) return [valued(name, key, joined ?? queue.shift())];
  const letters = /^-([a-zA-Z]{2,8})$/.exec(arg)?.[1];
  if (letters === undefined) throw unknownOption(name, arg, options);
  // Several short options in one, as in `-fd`. Each is checked separately. Only the last may have a
  // value.
  return [...letters].map((letter, index) => {
    const short = `-${letter}`;
    if (options.has(short)) return short;
    if (options.has(`${short}=`) && index === letters.length - 1)
      return valued(name, short, queue.shift());
    throw unknownOption(name, arg, options);
  });
}

function unknownOption(name: string, arg: string, options: ReadonlySet<string>): ArgumentRefusal {
  const known = [...options].map((option) => option.replace(/\[?=\]?$/, ""));
  const nearest = nearestName(arg.replace(/=.*$/s, ""), known);
  const long = known.filter((option) => option.startsWith("--"));
  // a complete list would cost many tokens
  const some = `Allowed: ${long.slice(0, SHOWN_OPTIONS).join(", ")}${long.length > SHOWN_OPTIONS ? ", ..." : ""}`;
  return new ArgumentRefusal(
    `Option '${preview(arg)}' is not allowed for git ${name}. ${nearest === undefined ? some : `Did you mean '${nearest}'?`}`,
  );
}

/** Joins option and value, so that git can't read the value as another argument. */
function valued(name: string, key: string, value: string | undefined): string {
  if (value === undefined || value === "")
    throw new ArgumentRefusal(`Option '${key}' of git ${name} needs a value`);
  if (value.startsWith("-") || value.includes("\0"))
    throw new ArgumentRefusal(
      `Option '${key}' of git ${name} cannot have the value: ${preview(value)}`,
    );
  if (key === "-X" && !MERGE_STRATEGY_OPTIONS.has(value))
    throw new ArgumentRefusal(
      `Option '-X' of git ${name} can be one of: ${[...MERGE_STRATEGY_OPTIONS].join(", ")}`,
    );
  return key.startsWith("--") ? `${key}=${value}` : `${key}${value}`;
}

function messageOption(name: string, spec: GitCommand, message: string): string {
  if (!spec.message) throw new ArgumentRefusal(`git ${name} does not accept a message`);
  if (message.trim() === "" || message.includes("\0"))
    throw new ArgumentRefusal("The message must not be blank or contain NUL characters");
  if (message.length > LONGEST_MESSAGE)
    throw new ArgumentRefusal(`The message must not have more than ${LONGEST_MESSAGE} characters`);
  return `--message=${message}`;
}

function checkOperand(operand: string): void {
  if (operand === "") throw new ArgumentRefusal("Arguments must not be empty");
  // Options were parsed before. This operand may begin with a dash, because a path follows `--`.
  if (/[\0\n\r]/.test(operand))
    throw new ArgumentRefusal(
      `Arguments must not contain control characters, got: ${preview(JSON.stringify(operand))}`,
    );
}

function onlyReads(
  { reads }: GitCommand,
  options: readonly string[],
  operands: readonly string[],
): boolean {
  if (typeof reads === "boolean") return reads;
  const keys = options.map((option) => option.replace(/=[^]*$/, ""));
  const listed = reads.map((option) => option.replace(/\[?=\]?$/, ""));
  return (
    keys.every((key) => listed.includes(key)) &&
    (operands.length === 0 || keys.includes("--list") || keys.includes("-l"))
  );
}
