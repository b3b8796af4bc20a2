import type { TaskCall } from "../../../contracts/hooks.js";
import type { DefinitionPart } from "./definition.js";
import type { JudgingCall, KeptCall, KeptTask } from "./kept-values.js";

/** The state of a task in progress in this execution. */
export interface TaskState {
  /** `{identity}@{attempt}`. Names the task in keys. */
  readonly place: string;
  /** The call after the taps of `beforeTask`. */
  call: TaskCall;
  /** Model calls that led to its output, or that followed its acceptance. */
  readonly calls: KeptCall[];
  /**
   * Model calls of the last judgement of its output. They are repeated when the output is judged
   * again.
   */
  judging: JudgingCall[];
  phase: "working" | "judging" | "accepting";
  /** Whether the review lane completed. Otherwise a review ended the run. */
  reviewed: boolean;
  /** Whether the task started other tasks. */
  isParent: boolean;
  /** Whether another process executed it. */
  isGiven: boolean;
  /** The output of an earlier execution, if the journal answered. */
  restored: KeptTask | undefined;
  definition: readonly DefinitionPart[] | undefined;
  /** Model calls of judges in the earlier execution that this execution requested. */
  readonly asked: Set<JudgingCall>;
}

function placeAt(identity: string, attempt: number): string {
  return `${identity}@${attempt}`;
}

/** The started tasks of one run, by id. */
export class TaskStates {
  readonly #states = new Map<string, TaskState>();

  /** Called at the start of an attempt. */
  begin(call: TaskCall): TaskState {
    const state: TaskState = {
      place: placeAt(call.identity, call.attempt),
      call,
      calls: [],
      judging: [],
      phase: "working",
      reviewed: false,
      isParent: false,
      isGiven: false,
      restored: undefined,
      definition: undefined,
      asked: new Set(),
    };
    this.#states.set(call.taskId, state);
    const parent =
      call.parentTaskId === undefined ? undefined : this.#states.get(call.parentTaskId);
    if (parent !== undefined) parent.isParent = true;
    return state;
  }

  /** Returns the state of a task after its taps of `beforeTask`. */
  resume(call: TaskCall): TaskState {
    const state = this.#states.get(call.taskId) ?? this.begin(call);
    state.call = call;
    return state;
  }

  /**
   * Called when a task has its output. Keeps the states of tasks whose place does not follow from
   * their id. Later calls need the place of such a task.
   */
  forget({ place, call: { taskId } }: TaskState): void {
    if (place === placeAt(taskId, 1)) this.#states.delete(taskId);
  }

  of(taskId: string): TaskState | undefined {
    return this.#states.get(taskId);
  }

  /**
   * Returns the name of the current attempt of the task. `attempt` is used for a task that has not
   * started. It is 0 while the agent of the task is created.
   */
  placeOf(taskId: string, attempt: number): string {
    const state = attempt === 0 ? undefined : this.#states.get(taskId);
    return state?.place ?? placeAt(taskId, attempt);
  }

  /** Returns the task whose place is the prefix of an idempotency key of this run. */
  at(place: string): TaskState | undefined {
    for (const state of this.#states.values()) if (state.place === place) return state;
    return undefined;
  }
}
