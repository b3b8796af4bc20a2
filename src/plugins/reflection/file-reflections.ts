import { readFile, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ReflectionStore, TaskReflection } from "../../contracts/reflection.js";

import { FileFormatError, MemoryStoreError } from "../../contracts/state-errors.js";
import { requireText } from "../../contracts/validation.js";
import { lineOf } from "../../util/json/locate.js";
import { sleep } from "../../util/abort/timeouts.js";
import { DraftFile } from "../../util/files/atomic-write.js";
import { requireUsableFile } from "../../util/files/usable-file.js";
import { codeOf } from "../../util/objects.js";
import { messageOf } from "../../util/errors.js";

const FORMAT = "agentensemble-reflections";

type Stored = Omit<TaskReflection, "reflectedAt"> & { readonly reflectedAt: string };
type Kept = Record<string, Stored>;

/**
 * Number of times that an unchanged draft of another writer is checked. After that it is abandoned.
 */
const LOOKS = 250;
const LOOK_EVERY_MS = 20;

/**
 * Keeps reflections in one JSON file, which is written atomically. Writes of all stores and
 * processes are serialized. Its methods reject with FileFormatError for a file of another kind.
 * They reject with MemoryStoreError if the file can't be read or written.
 * @throws ValidationError for a blank path.
 */
export function fileReflections(path: string): ReflectionStore {
  requireText(path, "ReflectionStore.file path must not be blank");
  return new FileReflections(resolve(path));
}

class FileReflections implements ReflectionStore {
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly path: string) {}

  async check(): Promise<void> {
    await this.#attempt(async () => requireUsableFile(this.path));
    await this.#read();
  }

  async retrieve(identity: string): Promise<TaskReflection | undefined> {
    await this.#turn;
    const kept = await this.#read();
    const stored = Object.hasOwn(kept, identity) ? kept[identity] : undefined;
    return stored === undefined
      ? undefined
      : Object.freeze({ ...stored, reflectedAt: new Date(stored.reflectedAt) });
  }

  store(identity: string, reflection: TaskReflection): Promise<void> {
    const turn = this.#turn.then(() => this.#keep(identity, reflection));
    this.#turn = turn.catch(() => undefined); // the caller receives the error
    return turn;
  }

  /**
   * Writes a draft, which then replaces the file. While the draft exists, it excludes other
   * writers.
   */
  async #keep(identity: string, reflection: TaskReflection): Promise<void> {
    const draft = await this.#attempt(() => this.#begin());
    try {
      const kept = await this.#read();
      Object.defineProperty(kept, identity, {
        value: reflection,
        enumerable: true,
        configurable: true,
        writable: true,
      }); // works for names like __proto__
      await this.#attempt(async () => {
        await draft.handle.writeFile(reflectionText(kept));
        await draft.publish();
      });
    } finally {
      await draft.discard();
    }
  }

  async #begin(): Promise<DraftFile> {
    const next = `${this.path}.next`;
    let seen = "";
    for (let looks = 0; ; looks++) {
      try {
        return await DraftFile.at(next, this.path);
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
      const now = await fileVersion(next);
      if (now !== seen) looks = 0;
      else if (looks >= LOOKS) await rm(next, { force: true });
      seen = now;
      await sleep(LOOK_EVERY_MS);
    }
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new MemoryStoreError(
        `Cannot write the reflections to '${this.path}': ${messageOf(cause)}`,
        { operation: "store" },
        { cause },
      );
    }
  }

  async #read(): Promise<Kept> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return {};
      throw new MemoryStoreError(
        `Cannot read the reflections in '${this.path}': ${messageOf(cause)}`,
        { operation: "retrieve" },
        { cause },
      );
    }
    return reflectionsIn(text, this.path);
  }
}

function reflectionText(reflections: Kept): string {
  return `${JSON.stringify({ format: FORMAT, version: 1, reflections }, undefined, 2)}\n`;
}

/**
 * Returns a text that distinguishes the drafts of different writers. It also changes with each
 * write of a draft.
 */
async function fileVersion(path: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

/** @throws FileFormatError for content that this store did not write. */
function reflectionsIn(text: string, path: string): Kept {
  const hint = "Move the file away, or choose another path.";
  let value: { readonly format?: unknown; readonly reflections?: unknown } | null;
  try {
    value = JSON.parse(text) as typeof value; // its fields are checked below
  } catch (cause) {
    const line = lineOf(text);
    throw new FileFormatError(
      `The reflections in '${path}' are not valid JSON (line ${line}): ${messageOf(cause)}`,
      { path, line },
      { cause, hint },
    );
  }
  const reflections = value?.format === FORMAT ? value.reflections : undefined;
  const sound =
    typeof reflections === "object" &&
    reflections !== null &&
    Object.values(reflections).every(isStored);
  if (!sound)
    throw new FileFormatError(
      `'${path}' is not a file of reflections`,
      { path, line: 1 },
      { hint },
    );
  return reflections as Kept; // checked above
}

function isStored(value: unknown): boolean {
  const {
    refinedDescription,
    refinedExpectedOutput,
    observations,
    suggestions,
    reflectedAt,
    runCount,
    untrusted,
  } = (value ?? {}) as Partial<Stored>; // checked here
  const texts = [refinedDescription, refinedExpectedOutput, reflectedAt].every(
    (field) => typeof field === "string",
  );
  return (
    texts &&
    Array.isArray(observations) &&
    Array.isArray(suggestions) &&
    typeof runCount === "number" &&
    (untrusted === undefined || typeof untrusted === "string") &&
    !Number.isNaN(Date.parse(reflectedAt ?? ""))
  );
}
