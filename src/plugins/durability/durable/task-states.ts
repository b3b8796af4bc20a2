import type { TaskCall } from "../../../contracts/hooks.js";
import type { DefinitionPart } from "./definition.js";
import type { JudgingCall, KeptCall, KeptTask } from "./kept-values.js";

/** What is known of a task that is in progress in this execution. */
export interface TaskState {
  /** `{identity}@{attempt}`: names the task in keys. */
  readonly place: string;
  /** As the taps before the work have left it. */
  call: TaskCall;
  /** Model calls that led to its output, or that followed its acceptance. */
  readonly calls: KeptCall[];
  /** Model calls of those who judged its output last. They are made again when it is judged again. */
  judging: JudgingCall[];
  phase: "working" | "judging" | "accepting";
  /** Whether the review lane came to its end: else a review ended the run. */
  reviewed: boolean;
  /** Whether other tasks ran on its behalf. */
  isParent: boolean;
  /** Whether another process has done it. */
  isGiven: boolean;
  /** The output of an earlier execution, where that answered. */
  restored: KeptTask | undefined;
  definition: readonly DefinitionPart[] | undefined;
  /** Model calls of the earlier execution's judges that this execution has asked for. */
  readonly asked: Set<JudgingCall>;
}

function placeAt(identity: string, attempt: number): string {
  return `${identity}@${attempt}`;
}

/** The tasks of one run that have begun, by id. */
export class TaskStates {
  readonly #states = new Map<string, TaskState>();

  /** An attempt of a task begins. */
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

  /** The state of a task whose taps before the work have run. */
  resume(call: TaskCall): TaskState {
    const state = this.#states.get(call.taskId) ?? this.begin(call);
    state.call = call;
    return state;
  }

  /** The task has its output. Those stay whose place does not follow from their id: later calls are named by it. */
  forget({ place, call: { taskId } }: TaskState): void {
    if (place === placeAt(taskId, 1)) this.#states.delete(taskId);
  }

  of(taskId: string): TaskState | undefined {
    return this.#states.get(taskId);
  }

  /** The name of the task's present attempt. `attempt` is that of a task that has not begun: 0 while its agent is made. */
  placeOf(taskId: string, attempt: number): string {
    const state = attempt === 0 ? undefined : this.#states.get(taskId);
    return state?.place ?? placeAt(taskId, attempt);
  }

  /** The task whose place begins an idempotency key of this run. */
  at(place: string): TaskState | undefined {
    for (const state of this.#states.values()) if (state.place === place) return state;
    return undefined;
  }
}
