import type { NewEvent } from "../../../contracts/events.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import type {
  HookRun,
  MemoryTarget,
  TaskMetricsUpdate,
  TaskScope,
} from "../../../contracts/run.js";
import type { Token } from "../../../contracts/token.js";

/** The part of a task that its memory uses. Every task scope has it. */
export type MemoryUser = Pick<
  TaskScope,
  | "run"
  | "taskId"
  | "parentTaskId"
  | "agentRole"
  | "signal"
  | "get"
  | "find"
  | "listens"
  | "emit"
  | "recordMetrics"
  | "writeMemory"
>;

/** The memory user of a hook call's task. */
export class TapMemoryUser implements MemoryUser {
  readonly #call: TaskCall;

  constructor(call: TaskCall) {
    this.#call = call;
  }

  get run(): HookRun {
    return this.#call.run;
  }
  get taskId(): string {
    return this.#call.taskId;
  }
  get parentTaskId(): string | undefined {
    return this.#call.parentTaskId;
  }
  get agentRole(): string {
    return this.#call.agent?.role ?? "(deterministic)";
  }
  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get<T>(token: Token<T>): T {
    return this.#call.run.get(token);
  }
  find<T>(token: Token<T>): T | undefined {
    return this.#call.run.find(token);
  }
  listens(type: NewEvent["type"]): boolean {
    return this.#call.run.listens(type);
  }
  emit(e: NewEvent): void {
    this.#call.run.emit(e);
  }
  recordMetrics(measures: TaskMetricsUpdate): void {
    this.#call.run.recordMetrics(this.#call.taskId, measures);
  }
  writeMemory(scope: string, entry: MemoryEntry, target?: MemoryTarget): Promise<void> {
    return this.#call.run.writeMemory(this.#call, scope, entry, target);
  }
}
