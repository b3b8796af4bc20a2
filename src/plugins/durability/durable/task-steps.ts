import type { After, Answer, Replace, TaskAnswer, TaskCall } from "../../../contracts/hooks.js";
import type { KeptEntry } from "../../../contracts/journal.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Schemas } from "../../shared/schemas.js";
import type { FailedAttempt, KeptCall, KeptFailure, KeptTask } from "./kept-values.js";
import type { RunJournal } from "./run-journal.js";
import type { TaskSpreader } from "../shared/task-spreader.js";
import type { TaskState, TaskStates } from "./task-states.js";
import { ExitEarlySignal } from "../../../contracts/errors.js";
import { JournalError } from "../../../contracts/journal-errors.js";
import { answer, replace } from "../../../contracts/hooks.js";
import { taskLabel } from "../../../contracts/task-label.js";
import { restoreError, storeError } from "../../shared/stored-error.js";
import { TASK_SPREADER } from "../shared/task-spreader.js";
import { decideChange } from "./change.js";
import {
  definitionDifference,
  definitionHash,
  definitionOf,
  Definitions,
  isDefinedAs,
} from "./definition.js";
import { survivesJson } from "../../../util/json/json-fidelity.js";
import {
  callIn,
  failureIn,
  restoredCalls,
  taskIn,
  usageOfCall,
  usageOfFailed,
  withoutText,
} from "./kept-values.js";

type AfterTask = After<TaskCall, "output", TaskOutput>;

/** The functions of the other steps of a run that tasks use. */
interface TaskSurroundings {
  readonly schemas: Schemas;
  /** Called with the calls of each task that is restored from its output. */
  onRestored(calls: readonly KeptCall[]): void;
  /** Returns the permanently failed attempts of the model calls of the task with this place. */
  failedCalls(place: string): readonly FailedAttempt[];
}

/** Maximum number of finished tasks of a run. */
const MOST_TASKS = 1_000_000;

/** Answers the tasks of one run from its journal, and records the others. */
export class TaskSteps {
  #finished: number;
  readonly #spreader: TaskSpreader | undefined;
  readonly #definitions: Definitions;

  constructor(
    readonly journal: RunJournal,
    readonly tasks: TaskStates,
    readonly around: TaskSurroundings,
  ) {
    this.#finished = journal.finishedTasks;
    this.#spreader = journal.run.find(TASK_SPREADER);
    this.#definitions = new Definitions(around.schemas);
  }

  /** Starts an attempt. Restores the prompt sections that plugins added in an earlier execution. */
  begin(call: TaskCall): void | Replace<Pick<TaskCall, "promptSections">> {
    const state = this.tasks.begin(call);
    const sections = this.#sectionsOf(state.place);
    if (sections === undefined) return undefined;
    return replace({ promptSections: sections });
  }

  /** Answers the task before its work begins. Its sections are complete. */
  async answer(call: TaskCall): Promise<void | Answer<TaskAnswer>> {
    const state = this.tasks.resume(call);
    const { index } = this.journal;
    this.#throwKeptFailure(state);
    const found = index.find(`T:${state.place}`, (entry) => {
      state.definition = this.#definitions.partsOf(call);
      const { definition } = state;
      return isDefinedAs(taskIn(entry).definition, definition) || entry.hash === definitionHash(definition); // prettier-ignore
    });
    if (found === undefined) return this.#begins(state, call);
    const { entry } = found;
    const kept = taskIn(entry);
    // The calls and the started tasks of the task are answered instead.
    if (kept.parent === true) return undefined;
    if (!found.isSame && !(await this.#counts(state, entry, kept))) return undefined;
    return this.#restored(state, entry, kept);
  }

  /** Called before the output is judged. */
  judge({ taskId }: TaskCall): void {
    const state = this.tasks.of(taskId);
    if (state === undefined) return;
    state.calls.push(...state.judging); // the calls of judges of an earlier text
    state.judging = [];
    state.phase = "judging";
  }

  /** Called when the judges have accepted the output. */
  accept({ taskId }: TaskCall): void {
    const state = this.tasks.of(taskId);
    if (state !== undefined) state.phase = "accepting";
  }

  /** Called when no review has ended the run. */
  reviewed({ taskId }: TaskCall): void {
    const state = this.tasks.of(taskId);
    if (state !== undefined) state.reviewed = true;
  }

  /** Writes an accepted output. */
  async finish(call: AfterTask): Promise<void> {
    const state = this.tasks.of(call.taskId);
    if (state === undefined || call.output === undefined) return;
    this.tasks.forget(state);
    await this.#write(call, call.output, state);
  }

  /**
   * Called when a restored output has passed the policies. No commit follows. Writes the output if
   * another process executed the task.
   */
  async answered(call: AfterTask): Promise<void> {
    const state = call.outcome === "answered" ? this.tasks.of(call.taskId) : undefined;
    if (state === undefined || call.output === undefined) return;
    if (state.isGiven) await this.#write(call, call.output, { ...state, reviewed: true });
    this.tasks.forget(state);
  }

  async #write(call: TaskCall, output: TaskOutput, state: TaskState): Promise<void> {
    if (++this.#finished > MOST_TASKS)
      throw this.journal.fail(new JournalError(`A run may finish at most ${MOST_TASKS} tasks`));
    const parts = state.definition ?? this.#definitions.partsOf(state.call);
    const value: KeptTask = {
      ...this.#valueOf(output, state),
      definition: definitionOf(parts),
    };
    if (!state.isParent) this.journal.drop(state.place);
    await this.journal.flush((task) => isOf(task, call.identity));
    const { place } = state;
    await this.journal.write({
      key: `T:${place}`,
      kind: "task",
      task: place,
      hash: definitionHash(parts),
      covers: !state.isParent,
      value,
    });
  }

  /**
   * Writes the end of a task whose failure another task has received, and of a handler that ended
   * the run. Both would happen again.
   */
  async fail(call: AfterTask): Promise<void> {
    const { outcome, error, task, parentTaskId } = call;
    const isExit = ExitEarlySignal.isInstance(error) && task.handler !== undefined;
    if (!isExit && (outcome !== "failed" || parentTaskId === undefined)) return;
    const state = this.tasks.of(call.taskId);
    if (state === undefined || state.restored !== undefined || error === undefined) return;
    const { place } = state;
    const value: KeptFailure = {
      error: storeError(error),
      calls: state.calls.map(withoutText),
      failed: this.around.failedCalls(place),
    };
    await this.journal.flush((kept) => isOf(kept, call.identity));
    await this.journal.write({
      key: `F:${place}`,
      kind: "failed",
      task: place,
      value,
    });
  }

  /**
   * Begins a task that is not answered. Completed steps are not repeated, and another process may
   * execute the rest.
   */
  async #begins(state: TaskState, call: TaskCall): Promise<void | Answer<TaskAnswer>> {
    const { task, identity } = call;
    if (task.handler !== undefined) this.journal.requireOpen(`task '${identity}'`);
    const given = await this.#spreader?.take(call);
    if (given === undefined) return undefined;
    state.isGiven = true;
    state.calls.push(...given.calls);
    this.around.onRestored(given.calls);
    return answer(given);
  }

  /** @throws the failure of an earlier execution that another task has received. */
  #throwKeptFailure(state: TaskState): void {
    const { index, run } = this.journal;
    const { place } = state;
    const entry = index.get(`F:${place}`);
    if (entry === undefined) return;
    index.askAll(place);
    state.reviewed = true;
    const { error, calls, failed } = failureIn(entry);
    const { taskId } = state.call;
    run.spent([...calls.flatMap(usageOfCall), ...usageOfFailed(failed, { taskId })]);
    throw restoreError(error);
  }

  /** Returns whether the output is used although the definition of the task has changed. */
  async #counts(state: TaskState, entry: KeptEntry, kept: KeptTask): Promise<boolean> {
    const difference = definitionDifference(kept.definition, definitionOf(state.definition ?? []));
    const verdict = await decideChange(this.journal, { task: state.place, entry, difference });
    if (verdict === "use") return true;
    return false;
  }

  #restored(state: TaskState, entry: KeptEntry, kept: KeptTask): Answer<TaskAnswer> {
    const { journal } = this;
    journal.noteRestored(entry);
    state.restored = kept;
    state.calls.push(...kept.calls);
    this.around.onRestored(kept.calls);
    const { raw, parsed, toolCallCount, agentRole, exit } = kept;
    const calls = kept.calls.flatMap((call) => restoredCalls(this.#withText(entry.task, call)));
    journal.index.release(entry.task);
    if (exit === true)
      journal.run.stop(
        new ExitEarlySignal(
          `The run was ended by a review of task '${taskLabel(state.call.task)}'`,
        ),
      );
    return answer({
      raw,
      ...(parsed !== undefined && !hasOtherType(kept, state) && { parsed }),
      calls,
      toolCallCount,
      agentRole,
    });
  }

  /** Returns the call with its texts, if the journal has returned them. */
  #withText(place: string, call: KeptCall): KeptCall {
    const entry = this.journal.index.get(`C:${place}/${call.purpose}/${call.iteration}`);
    return entry === undefined ? call : { ...call, response: callIn(entry).response };
  }

  #valueOf(output: TaskOutput, state: TaskState): Omit<KeptTask, "definition"> {
    const { raw, parsed, toolCallCount, agentRole } = output;
    const { agent } = state.call;
    const hasType = state.call.task.outputType !== undefined;
    // A value that JSON would change is not stored if there is a schema. It is then parsed from the
    // text again.
    const keepsValue =
      parsed !== undefined && parsed !== raw && !(hasType && !survivesJson(parsed));
    return {
      raw,
      ...(keepsValue && { parsed }),
      toolCallCount,
      ...(agent !== undefined && agent.role !== agentRole && { agentRole }),
      calls: state.calls.map(withoutText),
      ...(state.judging.length > 0 && { judging: [...state.judging] }),
      ...(!state.reviewed && { exit: true as const }),
      ...(state.isParent && { parent: true as const }),
    };
  }

  #sectionsOf(task: string): TaskCall["promptSections"] | undefined {
    for (const entry of this.journal.index.ofTask(task)) {
      if (entry.kind !== "call") continue;
      const { sections } = callIn(entry);
      if (sections !== undefined) return sections;
    }
    return undefined;
  }
}

/** Returns whether the schema of the task has changed, so that the text must be parsed again. */
function hasOtherType({ definition }: KeptTask, state: TaskState): boolean {
  const now = state.definition?.find(([name]) => name === "output type");
  return now !== undefined && now[1] !== definition["output type"]?.[0];
}

/** Returns whether the entries of `task` belong to an attempt of the task with this identity. */
function isOf(task: string, identity: string): boolean {
  return task.startsWith(`${identity}@`) && !task.slice(identity.length + 1).includes("@");
}
