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
  /** The key of the step that waits for this step, if it is not the step of the task. */
  readonly outer?: string | undefined;
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
    const isInner = parentTaskId !== undefined;
    const owner = isInner ? this.#tasks.get(parentTaskId) : undefined;
    const key = this.#unique(`${this.prefix}/T:${identity}@${attempt}`);
    this.#tasks.set(taskId, key);
    return { key, owner, ...(isInner && { outer: `${this.prefix}/D:${identity}` }) };
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
    const { prefix } = this;
    const end = identity.lastIndexOf(">"); // before the id of the tool call
    const outer = `${prefix}/K:${identity.slice(0, end)}/${identity.slice(end + 1)}`;
    return { key: `${prefix}/D:${identity}`, owner: this.#tasks.get(taskId), outer }; // unique within the run
  }

  /**
   * Whether a recorded step during a tool call may be a step of the tool. Other tool calls, and
   * approvals and delegations of other tool calls, are not.
   */
  isStepOf(
    { run, taskId, attempt, tool, call, idempotencyKey }: ToolCallContext,
    step: StepName,
  ): boolean {
    const owner = this.#tasks.get(taskId);
    if (owner === undefined || step.owner !== owner) return false;
    const kind = step.key.slice(this.prefix.length + 1, this.prefix.length + 3);
    const name = step.key.slice(this.prefix.length + 3);
    const origin = this.#place({ taskId, attempt });
    if (kind === "K:") return false;
    if (kind === "D:" || kind === "T:") {
      const id = idempotencyKey.slice(run.id.length + origin.length + 2);
      return ["", id].some((use) => isUseOf(name, `${origin}>${use}`));
    }
    const asked = `${owner}/review/`;
    return (
      !name.startsWith(asked) || isUseOf(name, `${asked}DURING_EXECUTION:${tool.name}:${call.id}`)
    );
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

/** Whether a name is `first`, with or without the number of an attempt or of a repetition. */
function isUseOf(name: string, first: string): boolean {
  return name.startsWith(first) && /^(?:$|[~@])/.test(name.slice(first.length));
}
