import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Revision, TaskContext, TaskMemory, TaskScope } from "../../../contracts/run.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { Task } from "../../../contracts/task.js";
import type { Inputs } from "../../../contracts/types.js";
import { contextOutput } from "../../../contracts/output.js";
import { UsedMemory } from "../../shared/memory/task-memory.js";

/** The context of a handler. */
export class HandlerContext implements TaskContext {
  readonly taskId: string;
  readonly description: string;
  readonly expectedOutput: string;
  readonly contextOutputs: readonly TaskOutput[];
  readonly inputs: Inputs;
  readonly revision: Revision | undefined;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly run: RunInfo;
  // A field, because handlers destructure the context.
  readonly getOutput: <U>(wanted: Task<U>) => TaskOutput<U>;
  readonly #scope: TaskScope;

  constructor(call: TaskCall, scope: TaskScope) {
    const { contextOutputs, run, revision, signal, task, taskId } = call;
    this.taskId = taskId;
    this.idempotencyKey = `${run.id}/${call.identity}@${call.attempt}`;
    this.description = task.description;
    this.expectedOutput = task.expectedOutput;
    this.contextOutputs = contextOutputs;
    this.inputs = run.inputs;
    this.revision = revision;
    this.signal = signal;
    this.run = run;
    this.getOutput = (wanted) => contextOutput(contextOutputs, wanted);
    this.#scope = scope;
  }

  /** Created on first access. */
  get memory(): TaskMemory {
    return new UsedMemory(this.#scope);
  }
}
