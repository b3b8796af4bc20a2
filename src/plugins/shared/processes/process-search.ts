import { readFileSync, readdirSync } from "node:fs";
import { setImmediate, setTimeout as delay } from "node:timers/promises";

/** The process that a command began with. */
export interface RootProcess {
  readonly pid: number;
  /** When it started, in the kernel's ticks since boot; undefined where /proc does not tell. */
  readonly startTicks: number | undefined;
  /** The variable that only this command and what it started have in their environment. */
  readonly mark: string;
}

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: number;
}

/** What one look around came to. */
interface Look {
  /** For `process.kill`: a group is one negative number. */
  readonly targets: readonly number[];
  /** Whether nobody can have been overlooked: what forks, or loads a program, at the very moment is not seen. */
  readonly isSure: boolean;
}

/** How many processes are looked at before others get a turn. */
const CHUNK = 64;
/** How often it is looked around when nobody was found and somebody may have been overlooked; on a busy machine that is always so. */
const MOST_LOOKS = 5;
const PAUSE_MS = 2;

function readProc(pid: number | ".", name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return undefined; // it has ended meanwhile, or belongs to somebody else
  }
}

/** A process that is alive, or undefined. See proc(5): the name in parentheses may itself hold parentheses and spaces. */
function readEntry(pid: number): ProcessEntry | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const at = (index: number): number => Number(fields[index]);
  const ended = fields[0] === "Z" || fields[0] === "X";
  return ended
    ? undefined
    : { pid, parent: at(1), group: at(2), session: at(3), startTicks: at(19) };
}

/** When a process started, also one that has just ended and was not waited for; undefined where there is no /proc. */
export function startTicksOf(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  const ticks = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  return Number.isFinite(ticks) ? ticks : undefined;
}

function isMarked(environment: string | undefined, mark: string): boolean {
  return (
    environment !== undefined &&
    (environment.startsWith(`${mark}=`) || environment.includes(`\0${mark}=`))
  );
}

/** The id that was given last: another one says that somebody has forked meanwhile. */
function lastId(): string | undefined {
  return readProc(".", "loadavg")?.trim().split(" ").at(-1);
}

function* youngerThan(startTicks: number): Generator<void, ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  let count = 0;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const entry = Number.isInteger(pid) && pid !== process.pid ? readEntry(pid) : undefined;
    if (entry !== undefined && entry.startTicks >= startTicks) entries.push(entry);
    if (++count % CHUNK === 0) yield;
  }
  return entries;
}

/**
 * Everything alive that a command started: its group and session, children of those, and whoever bears its mark, for a process that
 * forks twice and opens a session of its own keeps its environment. Groups of the root are written as one negative number.
 */
function* search(root: RootProcess): Generator<void, Look> {
  const before = lastId();
  const entries = yield* youngerThan(root.startTicks ?? 0);
  const members = new Set<number>();
  let count = 0;
  let isLoading = false;
  for (const { pid, group, session } of entries) {
    const environment = readProc(pid, "environ");
    if (environment === "") isLoading = true; // as it is for a moment, while a program is loaded
    if (
      pid === root.pid ||
      group === root.pid ||
      session === root.pid ||
      isMarked(environment, root.mark)
    )
      members.add(pid);
    if (++count % CHUNK === 0) yield;
  }
  for (let size = -1; size !== members.size;) {
    size = members.size;
    for (const { pid, parent } of entries) if (members.has(parent)) members.add(pid);
  }
  const own = entries.filter(({ pid }) => members.has(pid));
  const outside = own.filter(({ group }) => group !== root.pid).map(({ pid }) => pid);
  return {
    targets: outside.length === own.length ? outside : [-root.pid, ...outside],
    isSure: !isLoading && lastId() === before,
  };
}

async function look(root: RootProcess): Promise<Look> {
  const steps = search(root);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function lookNow(root: RootProcess): Look {
  const steps = search(root);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** Targets for `process.kill` that reach everything a command started (Linux). Other work gets its turn in between. */
export async function findProcesses(root: RootProcess): Promise<readonly number[]> {
  for (let looks = 1; ; looks++) {
    const { targets, isSure } = await look(root);
    if (targets.length > 0 || isSure || looks === MOST_LOOKS) return targets;
    await delay(PAUSE_MS);
  }
}

/** The same at once, for the moment in which this process ends. */
export function findProcessesNow(root: RootProcess): readonly number[] {
  for (let looks = 1; ; looks++) {
    const { targets, isSure } = lookNow(root);
    if (targets.length > 0 || isSure || looks === MOST_LOOKS) return targets;
  }
}
