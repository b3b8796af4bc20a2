import type { MemoryEntry } from "../../../contracts/memory.js";

/** An entry with the version its scope got by it (its name in the file) and the bytes of its line. */
export interface ScopeEntry {
  readonly entry: MemoryEntry;
  readonly version: number;
  readonly bytes: number;
}

/** From and to: versions of entries that lie in a row. */
export type VersionRange = readonly [number, number];

/** One change of one scope. `version` is the one the scope has after it. */
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
  /** Changes nothing else: stands behind the entries of a scope in a file that was written anew. */
  | { readonly op: "version"; readonly scope: string; readonly version: number };

interface Scope {
  version: number;
  entries: ScopeEntry[];
  bytes: number;
}

/** A scope as readers see it. */
export interface ScopeView {
  readonly version: number;
  readonly entries: readonly ScopeEntry[];
  readonly bytes: number;
}

const EMPTY: ScopeView = Object.freeze({ version: 0, entries: Object.freeze([]), bytes: 0 });

/** What is kept, by scope. */
export class ScopeTable {
  readonly #scopes = new Map<string, Scope>();
  readonly #base: ScopeTable | undefined;
  #liveBytes: number;

  constructor(base?: ScopeTable) {
    this.#base = base;
    this.#liveBytes = base?.liveBytes ?? 0;
  }

  /** Bytes of the lines of all entries that are kept. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  view(scope: string): ScopeView {
    return this.#scopes.get(scope) ?? this.#base?.view(scope) ?? EMPTY;
  }

  /** The scopes that were ever written to. */
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

  /** A table for changes that may come to nothing: this one does not see them until they are committed. */
  draft(): ScopeTable {
    return new ScopeTable(this);
  }

  /** Takes over a draft of this table. */
  commit(draft: ScopeTable): void {
    for (const [name, scope] of draft.#scopes) this.#scopes.set(name, scope);
    this.#liveBytes = draft.#liveBytes;
  }

  /** A draft copies a scope when it first changes it: pointers only, far cheaper than the write to the disk that follows. */
  #own(name: string): Scope {
    const own = this.#scopes.get(name);
    if (own !== undefined) return own;
    const { version, entries, bytes } = this.view(name);
    const scope = { version, entries: [...entries], bytes };
    this.#scopes.set(name, scope);
    return scope;
  }
}

/** Both lists are in the order of versions. */
function without(entries: readonly ScopeEntry[], dropped: readonly VersionRange[]): ScopeEntry[] {
  let next = 0;
  return entries.filter(({ version }) => {
    while ((dropped[next]?.[1] ?? Infinity) < version) next++;
    return version < (dropped[next]?.[0] ?? Infinity);
  });
}

/** The versions of the entries that are not kept, as ranges over what there is. */
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
