import type { FolderEntry, JailFolder } from "../shared/jail-folder.js";
import type { FolderJail } from "../shared/path-jail.js";
import type { WorkLimit } from "./work-limit.js";
import { AccessDeniedError, FileAccessError } from "../../../contracts/state-errors.js";

import { openIn, readBytes } from "../shared/jail-reading.js";
import { IgnoreRules } from "./ignore-rules.js";
import { codeOf } from "../../../util/objects.js";

/** Entries to skip in addition to those that .gitignore files exclude. */
export interface WalkRules {
  /** Patterns in the syntax of a .gitignore file. */
  readonly ignore: readonly string[];
  /** Whether .gitignore files apply. */
  readonly gitignore: boolean;
}

/** A file found by a walk. */
export interface WalkedFile {
  readonly folder: JailFolder;
  readonly name: string;
  /** Path relative to the root. */
  readonly path: string;
}

/** Called for each file in order. `false` ends the walk. */
export type Visit = (file: WalkedFile) => Promise<boolean>;

/** How a walk ended: complete, stopped by the visitor, at the entry limit, or at the time limit. */
export type WalkEnd = "complete" | "stopped" | "too-many" | "time";

const DEEPEST = 64;
/** Maximum number of files and folders per walk. */
const MAX_ENTRIES = 100_000;
const LARGEST_GITIGNORE = 64 * 1024;
/** Cost of one entry, in steps of a WorkLimit. */
const STEPS_PER_ENTRY = 2_000;

interface Place {
  readonly folder: JailFolder;
  /** Path relative to the root. */
  readonly path: string;
  readonly rules: IgnoreRules;
  /** Number of folders below the start of the walk. */
  readonly depth: number;
}

/** Traverses a folder in the order of the names without following links. */
export class Walk {
  readonly #jail: FolderJail;
  readonly #rules: WalkRules;
  readonly #limit: WorkLimit;
  readonly #visit: Visit;
  #entriesLeft = MAX_ENTRIES;
  #end: WalkEnd = "complete";

  constructor(jail: FolderJail, rules: WalkRules, limit: WorkLimit, visit: Visit) {
    this.#jail = jail;
    this.#rules = rules;
    this.#limit = limit;
    this.#visit = visit;
  }

  /**
   * Walks the folder at `path`, even if a rule ignores it.
   * @throws AccessDeniedError, FileAccessError
   */
  async from(path: string): Promise<WalkEnd> {
    const { folder, relativePath } = await this.#jail.base.openFolder(path);
    try {
      const rules = await this.#rulesAbove(relativePath);
      await this.#walk({ folder, path: relativePath, rules, depth: 0 });
    } finally {
      await folder.close();
    }
    return this.#end;
  }

  /**
   * Returns the rules of the root and of the folders between the root and the start of the walk.
   */
  async #rulesAbove(path: string): Promise<IgnoreRules> {
    let rules = await IgnoreRules.of("", this.#rules.ignore);
    const names = path.split("/").slice(0, -1);
    const folders =
      path === "" ? [] : ["", ...names.map((_, i) => names.slice(0, i + 1).join("/"))];
    for (const above of folders) {
      const { folder } = await this.#jail.base.openFolder(above === "" ? "." : above);
      try {
        rules = await this.#rulesIn(folder, above, rules);
      } finally {
        await folder.close();
      }
    }
    return rules;
  }

  async #rulesIn(folder: JailFolder, path: string, above: IgnoreRules): Promise<IgnoreRules> {
    if (!this.#rules.gitignore) return above;
    const bytes = await this.readIn(folder, ".gitignore", LARGEST_GITIGNORE);
    return bytes === undefined
      ? above
      : IgnoreRules.of(path, Buffer.from(bytes).toString("utf8").split("\n"), above);
  }

  /**
   * Returns a file's content. Returns `undefined` for an entry that is not a file, is too large, or
   * is not readable.
   */
  async readIn(
    folder: JailFolder,
    name: string,
    maxBytes: number,
  ): Promise<Uint8Array | undefined> {
    try {
      const { handle, size } = await openIn(this.#jail.base, folder, name, name);
      try {
        return size > maxBytes ? undefined : await readBytes(handle, 0, maxBytes, undefined);
      } finally {
        await handle.close();
      }
    } catch (e) {
      return skip(e);
    }
  }

  async #walk(place: Place): Promise<boolean> {
    const { folder, path, depth } = place;
    const entries = (await folder.entries()).sort((a, b) => (a.name < b.name ? -1 : 1));
    await this.#limit.spend(entries.length * 100); // cost of sorting
    const rules = entries.some(({ name }) => name === ".gitignore")
      ? await this.#rulesIn(folder, path, place.rules)
      : place.rules;
    for (const entry of entries) {
      if (!(await this.#mayGoOn(rules))) return false;
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.kind === "other" || rules.ignores(below, entry.name, entry.kind === "directory"))
        continue;
      if (!(await this.#enter(entry, { folder, path: below, rules, depth }))) return false;
    }
    return true;
  }

  /** Visits a file, or walks a folder. `at` is the parent folder with its path. */
  async #enter({ name, kind }: FolderEntry, at: Place): Promise<boolean> {
    const { folder, path, rules, depth } = at;
    if (kind === "file") {
      if (await this.#visit({ folder, name, path })) return true;
      this.#end = "stopped";
      return false;
    }
    if (depth === DEEPEST) {
      this.#end = "too-many";
      return true;
    }
    const inner = await folder.enter(name, path).catch(skip);
    if (inner === undefined) return true;
    try {
      return await this.#walk({ folder: inner, path, rules, depth: depth + 1 });
    } finally {
      await inner.close();
    }
  }

  async #mayGoOn(rules: IgnoreRules): Promise<boolean> {
    await this.#limit.spend(STEPS_PER_ENTRY + rules.cost);
    if (this.#entriesLeft-- <= 0) this.#end = "too-many";
    else if (this.#limit.expired) this.#end = "time";
    else return true;
    return false;
  }
}

/** Skips an entry that was deleted or replaced during the walk, or is not readable. */
function skip(e: unknown): undefined {
  if (AccessDeniedError.isInstance(e) || FileAccessError.isInstance(e)) return undefined;
  if (["ENOENT", "EACCES", "EPERM", "ELOOP", "ENOTDIR"].includes(String(codeOf(e))))
    return undefined;
  throw e;
}
