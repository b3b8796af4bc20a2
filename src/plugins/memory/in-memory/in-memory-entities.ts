import type { EntityMemory } from "../../../contracts/memory.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireText } from "../../../contracts/validation.js";

/** An entity memory with synchronous methods. */
export interface InMemoryEntityMemory extends EntityMemory {
  put(name: string, fact: string): void;
  get(name: string): string | undefined;
  getAll(): ReadonlyMap<string, string>;
}

/** Facts in the order in which their names first occurred. */
class InMemoryEntities implements InMemoryEntityMemory {
  readonly #facts = new Map<string, string>();

  put(name: string, fact: string): void {
    requireText(name, "entityName must not be null or blank");
    if (fact === undefined || fact === null) throw new ValidationError("fact must not be null");
    if (typeof fact !== "string")
      throw new ValidationError(`fact must be a string, got: ${preview(fact)}`);
    this.#facts.set(name.trim(), fact);
  }

  get(name: string): string | undefined {
    // JavaScript callers may pass any value
    return typeof name === "string" ? this.#facts.get(name.trim()) : undefined;
  }

  getAll(): ReadonlyMap<string, string> {
    return new Map(this.#facts);
  }
}

/**
 * Creates a store of facts by name that lasts as long as this object. Names are trimmed. A fact
 * replaces an earlier one with the same name. `getAll` returns a copy. `put` throws ValidationError
 * for a blank name and for a fact that is not a text.
 */
export function inMemoryEntities(): InMemoryEntityMemory {
  return new InMemoryEntities();
}
