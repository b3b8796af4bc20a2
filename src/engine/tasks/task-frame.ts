import type { ChatModel } from "../../contracts/chat-model.js";
import type { DelegationRequest } from "../../contracts/delegation.js";
import type { RunTaskOptions } from "../../contracts/run.js";
import type { Cancellation } from "../../util/abort/cancellation.js";
import type { ActiveRun } from "../run/active-run.js";
import type { TaskAttempt } from "./task-attempt.js";
import { Step } from "../../kernel/hooks/step.js";
import { type AgentEnsembleError, ValidationError } from "../../contracts/errors.js";
import { keyPart } from "../../util/text.js";

/** Fields of every event of a task. */
export interface TaskIdentity {
  readonly taskId: string;
  readonly agentRole: string;
  readonly parentTaskId?: string;
}

/** The data of a running attempt. Gateways receive it. The scope exposes it to executors. */
export class TaskFrame {
  /** Number of uses of each tool call id in this attempt. */
  #uses: Map<string, number> | undefined;
  /** Model calls of this attempt so far. Events number them as `iteration`, from 0. */
  modelCalls = 0;
  readonly depth: number;
  readonly priority: DelegationRequest["priority"];
  /** `TaskCall.identity`. */
  readonly key: string;

  constructor(
    readonly run: ActiveRun,
    readonly record: TaskAttempt,
    readonly cancellation: Cancellation<AgentEnsembleError>,
    o: Pick<RunTaskOptions, "depth" | "priority" | "identity"> = {},
  ) {
    this.depth = o.depth ?? 0;
    this.priority = o.priority ?? run.priority;
    this.key = o.identity ?? keyPart(record.taskId);
  }

  /** Returns a key part, equal in each execution of the run. `a, a, a~2` give `a, a~2, a~2~2`. */
  keyPartFor(use: string): string {
    const uses = (this.#uses ??= new Map<string, number>());
    const n = (uses.get(use) ?? 0) + 1;
    uses.set(use, n);
    return n === 1 ? keyPart(use) : this.keyPartFor(`${use}~${n}`); // may be the id of another call
  }

  /** The name of the attempt, equal in each execution of the run. */
  get origin(): string {
    return `${this.key}@${this.record.attempt}`;
  }

  get identity(): TaskIdentity {
    const { taskId, agentRole, parentTaskId } = this.record;
    return parentTaskId === undefined ? { taskId, agentRole } : { taskId, parentTaskId, agentRole };
  }

  /** The model of the task. @throws ValidationError if there is none. */
  get model(): ChatModel {
    const { task, agent } = this.record;
    const model = this.run.settings.model(task, agent);
    if (model !== undefined) return model;
    throw noModel(task.name ?? task.description);
  }
}

/** Returns the error of a task that needs a model but has no model. */
export function noModel(description: string): ValidationError {
  return new ValidationError(
    `No LLM available for task '${description}'. Set \`model\` on the ensemble, the task or its agent.`,
  );
}

/** A step of an attempt. */
export abstract class FrameStep<P extends object, R> extends Step<P, R> {
  constructor(
    readonly frame: TaskFrame,
    call: P,
  ) {
    super(call);
  }

  get warn(): (message: string) => void {
    return this.frame.run.warn;
  }

  stopReason(): AgentEnsembleError | undefined {
    return this.frame.cancellation.reason;
  }
}
