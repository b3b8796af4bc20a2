import type { EvictionPolicy } from "./memory.js";
import type { Clock } from "./runtime.js";
import { ValidationError } from "./errors.js";
import { preview, requireText } from "./validation.js";

/** Keeps the last `n` entries. @throws ValidationError unless `n` is a whole number above 0. */
export function keepLastEntries(n: number): EvictionPolicy {
  if (!Number.isInteger(n) || n <= 0)
    throw new ValidationError(`keepLastEntries n must be > 0, got: ${preview(n)}`);
  return Object.freeze<EvictionPolicy>({ apply: (entries) => Object.freeze(entries.slice(-n)) });
}

/**
 * Keeps what was stored within the last `ms` milliseconds. `clock` is for stores that are used outside a run; a run tells the time of its own.
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

/**
 * A named place of a memory store that a task reads before and writes after its work, with what stays there.
 * `{name}` variables in the name of a task's scope are filled from the run's inputs.
 * @throws ValidationError for a blank name or an unsound limit.
 */
export class MemoryScope {
  readonly name: string;
  /** Applied after each write of a task that declares this scope. */
  readonly eviction: EvictionPolicy | undefined;

  private constructor(name: string, eviction: EvictionPolicy | undefined) {
    this.name = name;
    this.eviction = eviction;
    Object.freeze(this);
  }

  static of(name: string): MemoryScope {
    requireText(name, "MemoryScope name must not be null or blank");
    return new MemoryScope(name, undefined);
  }

  /** A copy under another name. @throws ValidationError for a blank one. */
  named(name: string): MemoryScope {
    requireText(name, "MemoryScope name must not be null or blank");
    return name === this.name ? this : new MemoryScope(name, this.eviction);
  }

  /** A copy that keeps the last `n` entries; the last policy given wins. */
  keepLastEntries(n: number): MemoryScope {
    return new MemoryScope(this.name, keepLastEntries(n));
  }

  /** A copy that keeps entries for `ms` milliseconds; the last policy given wins. */
  keepEntriesWithin(ms: number): MemoryScope {
    return new MemoryScope(this.name, keepEntriesWithin(ms));
  }

  toString(): string {
    return `MemoryScope{name='${this.name}'}`;
  }
}
