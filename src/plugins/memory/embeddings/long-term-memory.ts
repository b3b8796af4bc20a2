import type { LongTermMemory, MemoryEntry, MemoryStore } from "../../../contracts/memory.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { checkEntry, checkMaxResults, checkScope } from "../shared/checks.js";
import { hasText } from "../../../util/text.js";

const STORE_METHODS = ["store", "retrieve"] as const;

/**
 * Returns a long-term memory in one scope of a store. A semantic store searches by meaning. Other
 * stores return the latest entries, oldest first. A blank query finds nothing.
 * @throws ValidationError for an invalid store and a blank scope
 */
export function longTermMemory(store: MemoryStore, scope = "long-term"): LongTermMemory {
  if (store === undefined || store === null)
    throw new ValidationError("memoryStore must not be null");
  for (const method of STORE_METHODS) {
    if (typeof store[method] !== "function")
      throw new ValidationError(`memoryStore must have a method ${method}, got: ${preview(store)}`);
  }
  checkScope(scope);
  return Object.freeze<LongTermMemory>({
    check: async () => store.check?.(),
    async store(entry) {
      checkEntry(entry);
      await store.store(scope, entry);
    },
    async retrieve(query, maxResults): Promise<readonly MemoryEntry[]> {
      checkMaxResults(maxResults);
      return hasText(query) ? store.retrieve(scope, query, maxResults) : [];
    },
  });
}
