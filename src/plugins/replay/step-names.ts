import type {
  DelegationCall,
  LlmCall,
  MemoryWrite,
  TaskCall,
  ToolCallContext,
} from "../../contracts/hooks.js";
import type { OutsideCall } from "../../contracts/outside.js";

/** The values that identify an attempt of a task within its run. */
type TaskPlace = Pick<TaskCall, "taskId" | "attempt">;

/** The key of a step and the key of its task. */
export interface StepName {
  readonly key: string;
  readonly owner: string | undefined;
}

/**
 * Names the steps of one run. The names are equal in a recording and in its replays. No name
 * depends on the order of parallel tasks.
 */
export class StepNames {
  readonly #identities = new Map<string, string>();
  /** The key of the current attempt of each task. */
  readonly #tasks = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** `prefix` is the id of the run in the recording. */
  constructor(readonly prefix: string) {}

  taskStarts({ taskId, identity, attempt, parentTaskId }: TaskCall): StepName {
    this.#identities.set(taskId, identity);
    const owner = parentTaskId === undefined ? undefined : this.#tasks.get(parentTaskId);
    const key = this.#unique(`${this.prefix}/T:${identity}@${attempt}`);
    this.#tasks.set(taskId, key);
    return { key, owner };
  }

  /** The key that a further attempt of a task will have. */
  nextAttempt({ taskId, attempt }: TaskPlace): string {
    const key = `${this.prefix}/T:${this.#place({ taskId, attempt: attempt + 1 })}`;
    const n = (this.#counts.get(key) ?? 0) + 1;
    return n === 1 ? key : `${key}~${n}`;
  }

  /** Returns the current or last attempt of a task. */
  task(taskId: string): string | undefined {
    return this.#tasks.get(taskId);
  }

  call({ taskId, taskAttempt, purpose, iteration, attempt }: LlmCall): StepName {
    const place = this.#place({ taskId, attempt: taskAttempt });
    const key = this.#unique(`${this.prefix}/C:${place}/${purpose}/${iteration}#${attempt}`);
    return { key, owner: this.#tasks.get(taskId) };
  }

  tool({ run, taskId, idempotencyKey }: ToolCallContext): StepName {
    const key = `${this.prefix}/K:${idempotencyKey.slice(run.id.length + 1)}`; // unique within the run
    return { key, owner: this.#tasks.get(taskId) };
  }

  delegation({ identity, taskId }: DelegationCall): StepName {
    return { key: `${this.prefix}/D:${identity}`, owner: this.#tasks.get(taskId) }; // unique within the run
  }

  write(call: MemoryWrite): StepName {
    return { key: this.#unique(this.firstWrite(call)), owner: this.#tasks.get(call.taskId) };
  }

  /** The key of the first write of a task to a scope. */
  firstWrite({ taskId, attempt, scope }: MemoryWrite): string {
    return `${this.prefix}/W:${this.#place({ taskId, attempt })}/${scope}`;
  }

  outside({ taskId, kind, name }: OutsideCall): StepName {
    const owner = taskId === undefined ? undefined : this.#tasks.get(taskId);
    return {
      key: this.#unique(`${this.prefix}/O:${owner ?? taskId ?? ""}/${kind}/${name}`),
      owner,
    };
  }

  #place({ taskId, attempt }: TaskPlace): string {
    return `${this.#identities.get(taskId) ?? taskId}@${attempt}`;
  }

  #unique(key: string): string {
    const n = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, n);
    return n === 1 ? key : `${key}~${n}`;
  }
}
