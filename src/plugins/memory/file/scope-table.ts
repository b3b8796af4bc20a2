import type { MemoryEntry } from "../../../contracts/memory.js";

/**
 * An entry, the version of its scope after it was stored, and the size of its line in bytes. The
 * version identifies the entry in the file.
 */
export interface ScopeEntry {
  readonly entry: MemoryEntry;
  readonly version: number;
  readonly bytes: number;
}

/** First and last version of adjacent entries. */
export type VersionRange = readonly [number, number];

/** One change of one scope. `version` is the scope's version after it. */
export type ScopeChange =
  | {
      readonly op: "store";
      readonly scope: string;
      readonly version: number;
      readonly entry: MemoryEntry;
      readonly bytes: number;
    }
  | {
      readonly op: "drop";
      readonly scope: string;
      readonly version: number;
      readonly dropped: readonly VersionRange[];
    }
  | { readonly op: "clear"; readonly scope: string; readonly version: number }
  /** Changes only the version. Follows the entries of a scope in a compacted file. */
  | { readonly op: "version"; readonly scope: string; readonly version: number };

interface Scope {
  version: number;
  entries: ScopeEntry[];
  bytes: number;
}

/** A scope as returned to readers. */
export interface ScopeView {
  readonly version: number;
  readonly entries: readonly ScopeEntry[];
  readonly bytes: number;
}

const EMPTY: ScopeView = Object.freeze({ version: 0, entries: Object.freeze([]), bytes: 0 });

/** The stored entries by scope. */
export class ScopeTable {
  readonly #scopes = new Map<string, Scope>();
  readonly #base: ScopeTable | undefined;
  #liveBytes: number;

  constructor(base?: ScopeTable) {
    this.#base = base;
    this.#liveBytes = base?.liveBytes ?? 0;
  }

  /** Size of the lines of all stored entries in bytes. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  view(scope: string): ScopeView {
    return this.#scopes.get(scope) ?? this.#base?.view(scope) ?? EMPTY;
  }

  /** Returns all scopes that were written to. */
  all(): Iterable<[string, ScopeView]> {
    return this.#scopes;
  }

  apply(change: ScopeChange): void {
    const scope = this.#own(change.scope);
    const before = scope.bytes;
    scope.version = change.version;
    if (change.op === "store") {
      scope.entries.push({ entry: change.entry, version: change.version, bytes: change.bytes });
      scope.bytes += change.bytes;
    } else if (change.op !== "version") {
      scope.entries = change.op === "clear" ? [] : without(scope.entries, change.dropped);
      scope.bytes = scope.entries.reduce((sum, { bytes }) => sum + bytes, 0);
    }
    this.#liveBytes += scope.bytes - before;
  }

  /**
   * Returns a table for changes that may be discarded. This table does not contain them before
   * `commit`.
   */
  draft(): ScopeTable {
    return new ScopeTable(this);
  }

  /** Applies a draft of this table. */
  commit(draft: ScopeTable): void {
    for (const [name, scope] of draft.#scopes) this.#scopes.set(name, scope);
    this.#liveBytes = draft.#liveBytes;
  }

  /**
   * A draft copies a scope at its first change. It copies only pointers, which is far cheaper than
   * the following write to disk.
   */
  #own(name: string): Scope {
    const own = this.#scopes.get(name);
    if (own !== undefined) return own;
    const { version, entries, bytes } = this.view(name);
    const scope = { version, entries: [...entries], bytes };
    this.#scopes.set(name, scope);
    return scope;
  }
}

/** Both lists are sorted by version. */
function without(entries: readonly ScopeEntry[], dropped: readonly VersionRange[]): ScopeEntry[] {
  let next = 0;
  return entries.filter(({ version }) => {
    while ((dropped[next]?.[1] ?? Infinity) < version) next++;
    return version < (dropped[next]?.[0] ?? Infinity);
  });
}

/** Returns the versions of the removed entries as ranges of existing entries. */
export function droppedRanges(
  entries: readonly ScopeEntry[],
  stays: readonly boolean[],
): readonly VersionRange[] {
  const ranges: [number, number][] = [];
  let open: [number, number] | undefined;
  for (const [index, { version }] of entries.entries()) {
    if (stays[index] === true) open = undefined;
    else if (open === undefined) ranges.push((open = [version, version]));
    else open[1] = version;
  }
  return ranges;
}
