import type { TaskOutput, WorkflowResult } from "../../../contracts/output.js";
import type { Phase } from "../../../contracts/phase.js";
import type { Plan } from "../../../contracts/plan.js";
import type { Revision, Run } from "../../../contracts/run.js";
import type { ReviewVerdict } from "./review-verdict.js";
import { TaskExecutionError, ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { knownNames } from "../../../contracts/validation.js";
import { lastIn } from "../shared/last.js";
import { PhasePlan } from "./phase-plan.js";
import { parseVerdict } from "./review-verdict.js";
import { toError } from "../../../util/errors.js";

/** One execution of all phases. A failed phase prevents its successors. All other phases run. */
export class PhasesRun {
  readonly #plan: PhasePlan;
  /** Whether each started phase succeeded. */
  readonly #ends = new Map<Phase, Promise<boolean>>();
  /** Outputs of accepted phases, in the order of their first acceptance. */
  readonly #accepted = new Map<Phase, readonly TaskOutput[]>();
  readonly #attempts = new Map<Phase, number>();
  /** Number of repetitions by the names of the requesting and the repeated phase. */
  readonly #predecessorRetries = new Map<string, number>();
  /**
   * The last repetition of each phase. Two successors may request one at the same time, but its
   * tasks can't run concurrently.
   */
  readonly #redone = new Map<Phase, Promise<void>>();
  readonly #failures: unknown[] = [];
  /** Phases that are accepted, or at the end of an attempt. */
  readonly #through = new Set<Phase>();

  constructor(
    plan: Plan,
    readonly run: Run,
  ) {
    this.#plan = new PhasePlan(plan);
  }

  async execute(): Promise<WorkflowResult> {
    this.#checkWorkflows();
    await Promise.all(this.#plan.phases.map((phase) => this.#end(phase)));
    if (this.#failures.length > 0) throw toError(this.#failures[0]);
    const taskOutputs = [...this.#accepted.values()].flat();
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  }

  /**
   * Runs before any task. It finds a missing workflow, or one that rejects its phase, before any
   * work costs money.
   */
  #checkWorkflows(): void {
    const known = this.run.all(Tokens.WorkflowExecutor);
    for (const phase of this.#plan.phases) {
      const name = this.#plan.workflowOf(phase);
      const workflow = known.findLast((executor) => executor.name === name);
      if (workflow === undefined)
        throw new ValidationError(
          `Phase '${phase.name}' has the unknown workflow '${name}'. ${knownNames(name, [...new Set(known.map((executor) => executor.name))])}`,
        );
      workflow.validate?.(this.#plan.partOf(phase));
    }
  }

  #end(phase: Phase): Promise<boolean> {
    let end = this.#ends.get(phase);
    if (end === undefined) {
      end = this.#perform(phase);
      this.#ends.set(phase, end);
    }
    return end;
  }

  async #perform(phase: Phase): Promise<boolean> {
    const before = await Promise.all(phase.after.map((other) => this.#end(other)));
    if (before.includes(false) || this.run.signal.aborted) return false;
    try {
      await this.#accomplish(phase, undefined);
      return true;
    } catch (error) {
      this.#failures.push(error);
      return false;
    }
  }

  /** Runs a phase until its review accepts it or the retries are used up. */
  async #accomplish(
    phase: Phase,
    revisions: ReadonlyMap<string, Revision> | undefined,
  ): Promise<void> {
    let retries = 0;
    let told = revisions;
    for (;;) {
      const startedMs = this.run.get(Tokens.Clock).monotonicMs();
      const outputs = await this.#attempt(phase, told);
      const verdict = await this.#judge(phase, outputs);
      if (verdict.kind === "reject") throw this.#rejection(phase, verdict.reason, outputs);
      if (verdict.kind !== "approve") this.#through.delete(phase);
      if (verdict.kind === "retry" && retries < (phase.review?.maxRetries ?? 0)) {
        retries++;
        told = revisionsOf(outputs, verdict.feedback);
      } else if (
        verdict.kind === "retryPredecessor" &&
        (await this.#retryPredecessor(phase, verdict))
      ) {
        retries = 0;
        told = undefined;
      } else return this.#accept(phase, outputs, startedMs);
    }
  }

  async #attempt(
    phase: Phase,
    revisions: ReadonlyMap<string, Revision> | undefined,
  ): Promise<readonly TaskOutput[]> {
    const attempt = (this.#attempts.get(phase) ?? 0) + 1;
    this.#attempts.set(phase, attempt);
    if (this.run.listens("phase_started"))
      this.run.emit({ type: "phase_started", phaseName: phase.name, attempt });
    const ids = this.#plan.tasksOf(phase).map(({ id }) => id);
    this.#through.delete(phase);
    const last = lastIn(this.run, () => this.#endsWith(phase));
    return (await this.run.runWorkflow(this.#plan.workflowOf(phase), ids, { revisions, last }))
      .taskOutputs;
  }

  /**
   * Whether this phase is the only one left. Marks it as done before the review's verdict is known.
   */
  #endsWith(phase: Phase): boolean {
    this.#through.add(phase);
    return this.#through.size === this.#plan.phases.length && this.#failures.length === 0;
  }

  /**
   * Returns the review's verdict. The review receives the phase's outputs, and those of earlier
   * phases that its task lists in `context`.
   */
  async #judge(phase: Phase, outputs: readonly TaskOutput[]): Promise<ReviewVerdict> {
    const task = this.#plan.reviewOf(phase);
    if (task === undefined) return { kind: "approve" };
    const earlier = [...this.#accepted.values()]
      .flat()
      .filter(({ taskId }) => task.contextIds.includes(taskId));
    const contextOutputs = [
      ...outputs,
      ...earlier.filter((output) => !outputs.some(({ taskId }) => taskId === output.taskId)),
    ];
    return parseVerdict((await this.run.runTask(task.id, { contextOutputs, last: false })).raw);
  }

  /**
   * Repeats a direct predecessor and returns whether it did. Returns false for an unknown name, or
   * if the retries are used up.
   */
  async #retryPredecessor(
    phase: Phase,
    { phaseName, feedback }: Extract<ReviewVerdict, { readonly kind: "retryPredecessor" }>,
  ): Promise<boolean> {
    const predecessor =
      phase.after.find(({ name }) => name === phaseName) ??
      phase.after.find(({ name }) => name.toLowerCase() === phaseName.toLowerCase());
    if (predecessor === undefined) return false;
    const key = JSON.stringify([phase.name, predecessor.name]);
    const used = this.#predecessorRetries.get(key) ?? 0;
    if (used >= (phase.review?.maxPredecessorRetries ?? 0)) return false;
    this.#predecessorRetries.set(key, used + 1);
    const before = this.#redone.get(predecessor) ?? Promise.resolve();
    const again = before.then(() =>
      this.#accomplish(predecessor, revisionsOf(this.#accepted.get(predecessor) ?? [], feedback)),
    );
    this.#redone.set(
      predecessor,
      again.catch(() => undefined), // the requester receives the error
    );
    await again;
    return true;
  }

  #accept(phase: Phase, outputs: readonly TaskOutput[], startedMs: number): void {
    const { run } = this;
    this.#accepted.set(phase, outputs);
    this.#through.add(phase);
    run.reportWorkflow({ kind: "phase", phase, outputs: Object.freeze([...outputs]) });
    if (!run.listens("phase_completed")) return;
    run.emit({
      type: "phase_completed",
      phaseName: phase.name,
      attempt: this.#attempts.get(phase) ?? 1,
      durationMs: Math.round(run.get(Tokens.Clock).monotonicMs() - startedMs),
    });
  }

  #rejection(phase: Phase, reason: string, outputs: readonly TaskOutput[]): TaskExecutionError {
    const completedTaskOutputs = [...[...this.#accepted.values()].flat(), ...outputs];
    const message = `Phase '${phase.name}' was rejected by review: ${reason === "" ? "no reason given" : reason}`;
    return new TaskExecutionError(message, {
      taskDescription: phase.name,
      agentRole: "phase-review",
      completedTaskOutputs,
    });
  }
}

/**
 * Returns a review's feedback for every task of its phase, together with the last output of each
 * task.
 */
function revisionsOf(
  outputs: readonly TaskOutput[],
  feedback: string,
): ReadonlyMap<string, Revision> {
  return new Map(
    outputs.map((output) => [output.taskId, { feedback, previousOutput: output.raw }]),
  );
}
