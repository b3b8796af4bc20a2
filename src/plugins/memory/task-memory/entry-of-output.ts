import type { TaskCall } from "../../../contracts/hooks.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import type { TaskOutput } from "../../../contracts/output.js";
import { MEMORY_METADATA } from "../../../contracts/memory.js";

/**
 * Returns the entry of an accepted output: its text, its structured value if there is one, and its
 * origin.
 */
export function entryOfOutput({ run, taskId, attempt }: TaskCall, output: TaskOutput): MemoryEntry {
  const { raw, parsed, completedAt, agentRole, taskDescription } = output;
  const structuredContent = parsed === raw ? undefined : plainValue(parsed);
  const metadata = {
    [MEMORY_METADATA.agentRole]: agentRole,
    [MEMORY_METADATA.taskDescription]: taskDescription,
    [MEMORY_METADATA.runId]: run.id,
    [MEMORY_METADATA.taskId]: taskId,
    [MEMORY_METADATA.attempt]: String(attempt),
  };
  return Object.freeze({
    content: raw,
    ...(structuredContent !== undefined && { structuredContent }),
    storedAt: completedAt,
    metadata: Object.freeze(metadata),
  });
}

/**
 * Returns the value in JSON form. A schema may have converted the value into something else, such
 * as a BigInt. Then only the text is stored.
 */
function plainValue(value: unknown): unknown {
  try {
    // returns undefined for a function, despite its declared type
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
