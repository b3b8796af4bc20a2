import type { ReflectionStore, TaskReflection } from "../../contracts/reflection.js";

/** Keeps reflections as long as the object exists. */
export function inMemoryReflections(): ReflectionStore {
  const kept = new Map<string, TaskReflection>();
  return Object.freeze<ReflectionStore>({
    store: async (identity, reflection) => void kept.set(identity, reflection),
    retrieve: async (identity) => kept.get(identity),
  });
}
