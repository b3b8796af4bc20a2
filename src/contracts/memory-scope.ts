import type { EvictionPolicy } from "./memory.js";
import type { RunInfo, ScopeName } from "./run-info.js";
import type { Clock } from "./runtime.js";
import { ValidationError } from "./errors.js";
import { preview, requireText } from "./validation.js";
import { messageOf } from "../util/errors.js";

/** Keeps the last `n` entries. @throws ValidationError unless `n` is a whole number above 0. */
export function keepLastEntries(n: number): EvictionPolicy {
  if (!Number.isInteger(n) || n <= 0)
    throw new ValidationError(`keepLastEntries n must be > 0, got: ${preview(n)}`);
  return Object.freeze<EvictionPolicy>({ apply: (entries) => Object.freeze(entries.slice(-n)) });
}

/**
 * Keeps the entries stored within the last `ms` milliseconds. `clock` is for stores used outside of
 * a run. A run passes the time of its clock.
 * @throws ValidationError unless `ms` is a positive number.
 */
export function keepEntriesWithin(ms: number, clock?: Pick<Clock, "now">): EvictionPolicy {
  if (ms === undefined || ms === null)
    throw new ValidationError("keepEntriesWithin duration must not be null");
  if (!Number.isFinite(ms) || ms <= 0)
    throw new ValidationError(`keepEntriesWithin duration must be positive, got: ${preview(ms)}`);
  return Object.freeze<EvictionPolicy>({
    apply: (entries, now = clock?.now()) => {
      if (now === undefined)
        throw new ValidationError("keepEntriesWithin needs to know the time", {
          hint: "Pass it: policy.apply(entries, clock.now()).",
        });
      const oldest = now.getTime() - ms;
      return Object.freeze(entries.filter((e) => e.storedAt?.getTime() > oldest));
    },
  });
}

const NAMED_BY_RUN = "(named by each run)";

/**
 * A named part of a memory store. A task reads the scope before its work and writes to it
 * afterwards. `{name}` variables in the name are filled from the run's inputs. A function returns
 * the name for each run, for instance from the run's values.
 * @throws ValidationError for a blank name or an invalid limit.
 */
export class MemoryScope {
  /** The name. `(named by each run)` if a function returns the name. */
  readonly name: string;
  /** The policy applied after each write of a task that declares this scope. Default: none. */
  readonly eviction: EvictionPolicy | undefined;

  readonly #nameIn: ((run: RunInfo) => string) | undefined;

  private constructor(
    name: string,
    eviction: EvictionPolicy | undefined,
    nameIn?: (run: RunInfo) => string,
  ) {
    this.name = name;
    this.eviction = eviction;
    this.#nameIn = nameIn;
    Object.freeze(this);
  }

  static of(name: ScopeName): MemoryScope {
    if (typeof name === "function") return new MemoryScope(NAMED_BY_RUN, undefined, name);
    requireText(name, "MemoryScope name must not be null or blank");
    return new MemoryScope(name, undefined);
  }

  /**
   * Returns the scope with its name in a run. Returns this scope if the name is equal in all runs.
   * @throws ValidationError if the function throws or returns no name.
   */
  inRun(run: RunInfo): MemoryScope {
    const nameIn = this.#nameIn;
    if (nameIn === undefined) return this;
    let name: unknown;
    try {
      name = nameIn(run);
    } catch (cause) {
      throw new ValidationError(
        `The function that names a MemoryScope failed: ${messageOf(cause)}`,
        { cause },
      );
    }
    if (typeof name !== "string" || name.trim() === "")
      throw new ValidationError(
        `The function that names a MemoryScope must return a name, got: ${preview(name)}`,
      );
    return new MemoryScope(name, this.eviction);
  }

  /** Returns whether both scopes have the same name in every run. */
  isSameAs(other: MemoryScope): boolean {
    return this.name === other.name && this.#nameIn === other.#nameIn;
  }

  /** Returns a copy with another name. @throws ValidationError for a blank name. */
  named(name: string): MemoryScope {
    requireText(name, "MemoryScope name must not be null or blank");
    return name === this.name ? this : new MemoryScope(name, this.eviction);
  }

  /** Returns a copy that keeps the last `n` entries. Replaces an earlier policy. */
  keepLastEntries(n: number): MemoryScope {
    return new MemoryScope(this.name, keepLastEntries(n), this.#nameIn);
  }

  /** Returns a copy that keeps entries for `ms` milliseconds. Replaces an earlier policy. */
  keepEntriesWithin(ms: number): MemoryScope {
    return new MemoryScope(this.name, keepEntriesWithin(ms), this.#nameIn);
  }

  toString(): string {
    return `MemoryScope{name='${this.name}'}`;
  }
}
