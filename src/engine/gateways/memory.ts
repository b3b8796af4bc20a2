import type { MemoryWrite } from "../../contracts/hooks.js";
import type { MemoryEntry } from "../../contracts/memory.js";
import type { MemoryTarget } from "../../contracts/run.js";
import type { HookPair } from "../../kernel/hooks/points.js";
import type { AfterPayload } from "../../kernel/hooks/step.js";
import type { TaskFrame } from "../tasks/task-frame.js";
import { ValidationError } from "../../contracts/errors.js";
import { MEMORY_METADATA } from "../../contracts/memory.js";
import { noMemoryStore, storeFailure } from "../../contracts/state-errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { preview } from "../../contracts/validation.js";
import { takeStep } from "../../kernel/hooks/step.js";
import { FrameStep } from "../tasks/task-frame.js";
import { messageOf, toError } from "../../util/errors.js";

/**
 * Gateway of all memory writes. Adds run, task, attempt, agent role and any untrusted source to
 * each entry. Reports a rejected entry as a warning and does not write it.
 * @throws ValidationError without a store; MemoryStoreError around an error of the store.
 */
export async function writeMemory(
  frame: TaskFrame,
  scope: string,
  entry: MemoryEntry,
  target?: MemoryTarget,
): Promise<void> {
  const { run, cancellation } = frame;
  if (cancellation.reason !== undefined) throw cancellation.reason;
  const store = target?.store ?? run.settings.find(Tokens.MemoryStore);
  if (store === undefined) throw noMemoryStore();
  const { taskId, attempt } = frame.record;
  const call = { run: run.info, taskId, attempt, scope, entry: withOrigin(frame, entry) };
  const step = new MemoryStep(frame, call, { ...target, store });
  await takeStep(step);
  if (step.afterHookError !== undefined) throw step.afterHookError;
  if (step.outcome === "rejected") return;
  if (step.result === undefined) throw toError(step.error);
  if (run.events.listens("memory_written"))
    run.emit({ type: "memory_written", ...frame.identity, scope });
}

class MemoryStep extends FrameStep<MemoryWrite, MemoryEntry> {
  constructor(
    frame: TaskFrame,
    call: MemoryWrite,
    readonly target: MemoryTarget,
  ) {
    super(frame, call);
  }

  get hooks(): HookPair {
    return this.frame.run.points.memoryWrite;
  }

  async work(): Promise<MemoryEntry> {
    const { scope, entry } = this.call;
    try {
      await this.target.store.store(scope, entry);
      return entry;
    } catch (error) {
      throw storeFailure(error, `Memory scope '${scope}' could not be written`, "store", scope);
    }
  }

  /** Accepts an entry written in an earlier execution of the run. */
  override fromAnswer(value: unknown): MemoryEntry {
    if (typeof (value as Partial<MemoryEntry> | null)?.content === "string")
      return value as MemoryEntry; // the fields read here were checked
    throw new ValidationError(
      `answer() of beforeMemoryWrite must return the entry that was written, got: ${preview(value)}`,
    );
  }

  override done(): void {
    const { outcome, error } = this;
    const { scope } = this.call;
    const { kind = "scope" } = this.target;
    if (outcome === "rejected")
      this.warn(`Memory scope '${scope}': the entry was not written: ${messageOf(error)}`);
    const { result: entry } = this;
    if (entry === undefined) return;
    this.frame.run.keepMetrics(this.frame.record, {
      memoryOperations: { [kind === "scope" ? "scopeWrites" : "longTermStores"]: 1 },
      memory: () => ({
        operation: "write",
        kind,
        ...(kind === "scope" && { scope }),
        entries: [entry.content],
      }),
    });
  }

  afterPayload(): AfterPayload {
    const { outcome, error, result, call } = this;
    return result !== undefined
      ? { outcome, ...call, entry: result }
      : { outcome, error: toError(error), ...call, entry: undefined };
  }
}

/** Adds the origin to an entry. The writer's values take precedence. The store checks the rest. */
function withOrigin({ run, record }: TaskFrame, entry: MemoryEntry): MemoryEntry {
  const { metadata = {} } = (entry as MemoryEntry | null | undefined) ?? {}; // null in JavaScript
  if (typeof entry !== "object" || typeof metadata !== "object" || Array.isArray(metadata))
    return entry;
  const origin = {
    [MEMORY_METADATA.agentRole]: record.agentRole,
    [MEMORY_METADATA.runId]: run.info.id,
    [MEMORY_METADATA.taskId]: record.taskId,
    [MEMORY_METADATA.attempt]: String(record.attempt),
  };
  const { untrustedSource } = run.info;
  const mark = untrustedSource !== undefined && { [MEMORY_METADATA.untrusted]: untrustedSource };
  return Object.freeze({ ...entry, metadata: Object.freeze({ ...origin, ...metadata, ...mark }) });
}
