import type { ServiceOptions } from "../contracts/ensemble-options.js";
import type { Fields } from "../util/objects.js";
import { ValidationError } from "../contracts/errors.js";
import { SHARED_NAME } from "../contracts/service-options.js";
import { Task } from "../contracts/task.js";
import { isTool } from "../contracts/tool.js";
import {
  checkOptions,
  knownNames,
  preview,
  requireArray,
  requireBoolean,
  requireDelay,
  requireDuration,
  requireInteger,
  requireOneOf,
  requireText,
} from "../contracts/validation.js";
import { isObject } from "../util/objects.js";

/** The name under which a whole ensemble is shared. */
const RUN = "run";

const SCHEDULE_OPTIONS = [
  ...["name", "schedule", "task", "inputs", "broadcastTo", "catchUp", "overlap"],
];

/** Returns whether the ensemble shares anything. Otherwise its service would have no work. */
export function isShared({ shareTasks, shareTools, shareRun, schedules }: ServiceOptions): boolean {
  const names = [...Object.keys(shareTasks ?? {}), ...Object.keys(shareTools ?? {})];
  return shareRun === true || names.length > 0 || (schedules?.length ?? 0) > 0;
}

/** The entries of `shareTasks` or `shareTools`. */
interface SharedKind {
  readonly option: "shareTasks" | "shareTools";
  /** The field of an entry that contains the task or the tool. */
  readonly field: "task" | "tool";
  readonly isOne: (value: unknown) => boolean;
}

const KINDS: readonly SharedKind[] = [
  { option: "shareTasks", field: "task", isOne: (value) => value instanceof Task },
  { option: "shareTools", field: "tool", isOne: isTool },
];

/** @throws ValidationError for an invalid option of a service. */
export function checkServiceOptions(o: ServiceOptions): void {
  const names = new Map<string, string>();
  if (o.shareRun === true) names.set(RUN, "shareRun");
  for (const kind of KINDS) checkShared(kind, o[kind.option], names);
  checkSchedules(o);
  requireBoolean("Ensemble shareRun", o.shareRun);
  requireDelay("Ensemble drainTimeoutMs", o.drainTimeoutMs);
  requireInteger("Ensemble maxConcurrentRequests", o.maxConcurrentRequests, 1, "> 0");
  requireInteger("Ensemble maxQueuedRequests", o.maxQueuedRequests, 1, "> 0");
  checkSpread(o.spread);
}

function checkSpread(spread: unknown): void {
  if (spread === undefined) return;
  checkOptions("Ensemble spread", spread, ["tasks", "size", "concurrency"]);
  const { tasks, size, concurrency } = spread as Fields;
  if (typeof tasks !== "function" && tasks !== "map")
    throw new ValidationError(
      `Ensemble spread.tasks must be "map" or a function, got: ${preview(tasks)}`,
    );
  requireInteger("Ensemble spread.size", size, 1, "> 0");
  requireInteger("Ensemble spread.concurrency", concurrency, 1, "> 0");
}

function checkSchedules({ schedules, shareTasks = {} }: ServiceOptions): void {
  requireArray("Ensemble schedules", schedules);
  const names = new Set<unknown>();
  schedules?.forEach((given, i) => {
    const what = `Ensemble schedules[${i}]`;
    checkOptions(what, given, SCHEDULE_OPTIONS);
    const { name, schedule, task, inputs, broadcastTo, catchUp, overlap } = given;
    if (typeof name !== "string" || !SHARED_NAME.test(name) || names.has(name))
      throw new ValidationError(
        `${what} name must be 1 to 64 letters, digits, - or _, and unique, got: ${preview(name)}`,
      );
    names.add(name);
    if (!isObject(schedule) || !("cron" in schedule || "everyMs" in schedule))
      throw new ValidationError(`${what} schedule must be times, got: ${preview(schedule)}`, {
        hint: 'Use Schedule.cron("0 6 * * *") or Schedule.every(60_000).',
      });
    if (!Object.hasOwn(shareTasks, String(task)))
      throw new ValidationError(
        `${what} task must be a name of shareTasks, got: ${preview(task)}. ${knownNames(String(task), Object.keys(shareTasks))}`,
      );
    if (inputs !== undefined && !isObject(inputs))
      throw new ValidationError(`${what} inputs must be an object, got: ${preview(inputs)}`);
    if (broadcastTo !== undefined)
      requireText(broadcastTo, `${what} broadcastTo must not be blank when set`);
    requireOneOf(`${what} catchUp`, catchUp, ["none", "last"]);
    requireOneOf(`${what} overlap`, overlap, ["skip", "allow"]);
  });
}

function checkShared(kind: SharedKind, shared: unknown, names: Map<string, string>): void {
  const { option } = kind;
  if (shared === undefined) return;
  if (!isObject(shared))
    throw new ValidationError(
      `Ensemble ${option} must be an object of names, got: ${preview(shared)}`,
    );
  for (const [name, entry] of Object.entries(shared)) {
    const what = `Ensemble ${option}.${name}`;
    if (!SHARED_NAME.test(name))
      throw new ValidationError(
        `Ensemble ${option}: a shared name must be 1 to 64 letters, digits, - or _, got: ${preview(name)}`,
      );
    const other = names.get(name);
    if (other !== undefined)
      throw new ValidationError(`${what} has the name of another shared entry, in ${other}`, {
        hint: "Names of shared tasks and tools are unique; `run` is the ensemble itself with shareRun.",
      });
    names.set(name, option);
    checkSharedEntry(what, kind, entry);
  }
}

function checkSharedEntry(what: string, { field, isOne }: SharedKind, entry: unknown): void {
  if (isOne(entry)) return;
  const article = field === "task" ? "a Task" : "a tool";
  if (!isObject(entry) || !isOne(entry[field]))
    throw new ValidationError(
      `${what} must be ${article}, or an object with \`${field}\`, got: ${preview(entry)}`,
    );
  const settings: Fields = entry;
  const { description, version, tags, timeoutMs, resultTtlMs } = settings;
  checkOptions(what, entry, [field, "description", "version", "tags", "timeoutMs", "resultTtlMs"]);
  for (const [name, text] of Object.entries({ description, version }))
    if (text !== undefined) requireText(text, `${what} ${name} must not be blank when set`);
  requireArray(`${what} tags`, tags);
  for (const tag of (tags ?? []) as readonly unknown[])
    // `tags` is an array.
    requireText(tag, `${what} tags must be texts that are not blank, got: ${preview(tag)}`);
  requireDuration(`${what} timeoutMs`, timeoutMs);
  requireDuration(`${what} resultTtlMs`, resultTtlMs);
}
