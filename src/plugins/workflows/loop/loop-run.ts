import type { Loop, LoopHistory } from "../../../contracts/loop.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { IsLast, Revision, Run } from "../../../contracts/run.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { LOOP_TEMPLATES } from "./loop-prompts.js";
import { MaxLoopIterationsExceededError } from "../../../contracts/workflow-errors.js";
import { breathe } from "../shared/breather.js";
import { decide } from "../shared/decision.js";
import { lastIn } from "../shared/last.js";
import { bodyIds } from "../shared/loop-plan.js";
import { FinishedIteration } from "./finished-iteration.js";
import { LoopMemory } from "./loop-memory.js";
import { projectOutputs } from "./output-projection.js";

/** One execution of one loop. */
export class LoopRun {
  readonly #iterations: (readonly TaskOutput[])[] = [];
  readonly #ids: readonly string[];
  readonly #memory: LoopMemory;
  /** The last result of `until`. */
  #judged: { readonly output: TaskOutput; readonly converged: boolean } | undefined;

  constructor(
    readonly loop: Loop,
    readonly run: Run,
    readonly texts: PromptTexts<keyof typeof LOOP_TEMPLATES>,
    /** Whether the run ends with this loop. */
    readonly last: IsLast | undefined,
  ) {
    this.#ids = bodyIds(run.plan, loop);
    this.#memory = new LoopMemory(loop, run);
  }

  /**
   * Returns the loop's outputs according to its `outputMode`. If an iteration fails, the finished
   * tasks are also reported.
   */
  async execute(): Promise<readonly TaskOutput[]> {
    const { loop, run } = this;
    let reason: LoopHistory["terminationReason"] | undefined;
    try {
      this.#memory.check();
      while (reason === undefined) {
        if (this.#iterations.length > 0) await this.#memory.prepare();
        await this.#iterate();
        if (this.#converged(this.#iterations)) reason = "predicate";
        else if (this.#iterations.length === loop.maxIterations) reason = "maxIterations";
        await breathe(this.#iterations.length);
      }
    } finally {
      run.reportWorkflow({ kind: "loop", loop, history: this.#history(reason) });
    }
    if (reason === "maxIterations" && loop.onMaxIterations === "THROW")
      throw new MaxLoopIterationsExceededError(loop.name, loop.maxIterations);
    return projectOutputs(loop, this.#iterations);
  }

  /** Runs the body once, in order. Only its first task receives the previous iteration's output. */
  async #iterate(): Promise<void> {
    const { run, loop } = this;
    let revision = this.#feedback();
    const outputs: TaskOutput[] = [];
    const ends = (output: TaskOutput): boolean => this.#endsWith([...outputs, output]);
    for (const id of this.#ids) {
      outputs.push(
        await run.runTask(id, { revision, last: lastIn(this, id === this.#ids.at(-1) && ends) }),
      );
      revision = undefined;
    }
    const iterationNumber = this.#iterations.push(Object.freeze(outputs));
    if (run.listens("loop_iteration_completed"))
      run.emit({
        type: "loop_iteration_completed",
        loopName: loop.name,
        iterationNumber,
        maxIterations: loop.maxIterations,
      });
  }

  #feedback(): Revision | undefined {
    const { injectFeedback, maxIterations } = this.loop;
    const last = this.#iterations.at(-1)?.at(-1);
    if (last === undefined || !injectFeedback) return undefined;
    return {
      feedback: this.texts.render("loop.feedback", {
        iteration: this.#iterations.length + 1,
        maxIterations,
      }),
      previousOutput: last.raw,
    };
  }

  /**
   * Whether the loop would end with an iteration of these outputs. An error of `until` is ignored
   * here. It is thrown when the loop itself checks.
   */
  #endsWith(outputs: readonly TaskOutput[]): boolean {
    const { maxIterations, onMaxIterations } = this.loop;
    const iterations = [...this.#iterations, outputs];
    try {
      return (
        this.#converged(iterations) ||
        (iterations.length === maxIterations && onMaxIterations !== "THROW")
      );
    } catch {
      return false;
    }
  }

  /** Calls `until` for the last iteration, but only once per output. */
  #converged(iterations: readonly (readonly TaskOutput[])[]): boolean {
    const output = iterations.at(-1)?.at(-1);
    if (output === undefined) return false;
    if (this.#judged?.output !== output)
      this.#judged = { output, converged: this.#ask(iterations, output) };
    return this.#judged.converged;
  }

  #ask(iterations: readonly (readonly TaskOutput[])[], lastBodyOutput: TaskOutput): boolean {
    const { name, until } = this.loop;
    if (until === undefined) return false;
    const iteration = new FinishedIteration(iterations, lastBodyOutput);
    return decide(
      `Loop '${name}': until() after iteration ${iteration.iterationNumber}`,
      until,
      iteration,
      lastBodyOutput,
    );
  }

  /** Returns the history. An interrupted loop has neither reason. See `stoppedByMaxIterations`. */
  #history(reason: LoopHistory["terminationReason"] | undefined): LoopHistory {
    const iterations = Object.freeze([...this.#iterations]);
    return Object.freeze({
      iterations,
      terminationReason: reason ?? "maxIterations",
      stoppedByMaxIterations: reason === "maxIterations",
    });
  }
}
