import { join, resolve } from "node:path";
import type { QueueClock } from "../clock-timer.js";
import type { QueueRules } from "../queue-table.js";
import type { NetworkState } from "./network-lines.js";
import { NetworkError } from "../../../../contracts/network-errors.js";
import { sleep } from "../../../../util/abort/timeouts.js";
import { FileInUseError, FileLock } from "../../../../util/files/file-lock.js";
import { makeFolder } from "../../../../util/files/make-folder.js";
import { uuidGenerator } from "../../../../util/runtime.js";
import { LocalQueue } from "../local-queue.js";
import { LocalResults } from "../local-results.js";
import { QueueTable } from "../queue-table.js";
import { ChangeFile } from "./change-file.js";
import {
  applyLine,
  checkHeader,
  compactedLines,
  queueLine,
  lineOfResult,
} from "./network-lines.js";

/** The contents of an open folder. */
export interface OpenFolder {
  readonly queue: LocalQueue;
  readonly results: LocalResults;
  close(): Promise<void>;
}

interface FolderSettings {
  readonly clock: QueueClock & { now(): Date };
  readonly rules: QueueRules;
}

/**
 * Opens a folder for this object alone.
 * @throws NetworkError while another process or object uses the folder; FileFormatError for a
 * damaged file; errors of the file system.
 */
export async function openFolder(path: string, settings: FolderSettings): Promise<OpenFolder> {
  const folder = resolve(path);
  await makeFolder(folder);
  const lock = await lockOf(join(folder, "network.lock"));
  try {
    return await readFolder(folder, settings, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function lockOf(path: string): Promise<FileLock> {
  try {
    return await FileLock.acquire(path);
  } catch (cause) {
    if (!(cause instanceof FileInUseError)) throw cause;
    throw new NetworkError(cause.message, {
      cause,
      hint: `${cause.hint}. Several processes need a backend on a server, for instance PostgreSQL.`,
    });
  }
}

async function readFolder(
  folder: string,
  { clock, rules }: FolderSettings,
  lock: FileLock,
): Promise<OpenFolder> {
  const time = new LastingClock(clock);
  const tables = new Map<string, QueueTable>();
  const tableOf = (queue: string): QueueTable => {
    const table = tables.get(queue) ?? new QueueTable(rules);
    tables.set(queue, table);
    return table;
  };
  // Reading the file needs the state, which needs the file.
  const opened: { file?: ChangeFile } = {};
  const settled = (): Promise<void> | undefined => opened.file?.settled();
  const ready = (): Promise<void> | undefined => opened.file?.ready();
  const results = new LocalResults({
    clock: time,
    log: {
      settled,
      add: (change) => opened.file?.add(lineOfResult(change)),
      remove: (change) => opened.file?.remove(lineOfResult(change)) === true,
    },
  });
  const state: NetworkState = { tables, tableOf, results };
  const file = await ChangeFile.open(
    join(folder, "network.log"),
    (text, line) => {
      if (line === 1) checkHeader(text);
      else time.reach(applyLine(text, state));
    },
    () => compactedLines(state),
  );
  opened.file = file;
  // The holders of the leases ended with their process.
  for (const table of tables.values()) table.endLeases();
  const add = (queue: string, change: Parameters<typeof queueLine>[1]): void =>
    file.add(queueLine(queue, change));
  const log = { settled, ready, add };
  const nextToken = (): string => uuidGenerator.next();
  const queue = new LocalQueue({ clock: time, rules, nextToken, tables, log });
  lock.owner = file;
  return { queue, results, close: () => closeFolder({ queue, results, file, lock }) };
}

async function closeFolder({
  queue,
  results,
  file,
  lock,
}: Pick<OpenFolder, "queue" | "results"> & {
  readonly file: ChangeFile;
  readonly lock: FileLock;
}): Promise<void> {
  await queue.close();
  await results.close();
  try {
    await file.close();
  } finally {
    await lock.release();
  }
}

/**
 * A clock in milliseconds since 1970 that never decreases, in this process and relative to files of
 * earlier processes. It uses the monotonic clock between readings.
 */
class LastingClock implements QueueClock {
  readonly #clock: QueueClock;
  #offset: number;

  constructor(clock: FolderSettings["clock"]) {
    this.#clock = clock;
    this.#offset = clock.now().getTime() - clock.monotonicMs();
  }

  monotonicMs(): number {
    return this.#offset + this.#clock.monotonicMs();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep?.(ms, signal) ?? sleep(ms, signal);
  }

  /** Advances to an instant in the future. */
  reach(at: number): void {
    this.#offset += Math.max(0, at - this.monotonicMs());
  }
}
