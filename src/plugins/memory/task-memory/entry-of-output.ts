import type { TaskCall } from "../../../contracts/hooks.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import type { TaskOutput } from "../../../contracts/output.js";
import { MEMORY_METADATA } from "../../../contracts/memory.js";

/** What is remembered of an accepted output: its text, its value where it has one of its own, and where it came from. */
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

/** The value as JSON knows it. A schema may have made something else of the answer, a BigInt for instance: then the text alone is kept. */
function plainValue(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined; // nothing for a function, whatever the declaration says
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
