import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { TaskOutput, WorkflowResult } from "../../../contracts/output.js";
import type { Plan } from "../../../contracts/plan.js";
import type { Run } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { lastIn } from "../shared/last.js";
import { checkLoops, listTasks } from "../shared/loop-plan.js";
import { LoopRun } from "./loop-run.js";
import { LOOP_TEMPLATES } from "./loop-prompts.js";

/** Runs the loops of a plan one after the other. The plan must contain only loops. */
export class LoopWorkflow implements WorkflowExecutor {
  readonly name = "LOOP";
  readonly reads = [];
  readonly #library = new PromptLibrary(LOOP_TEMPLATES);

  validate(plan: Plan): void {
    const [other] = listTasks(plan);
    if (plan.loops.length === 0 || other !== undefined) {
      const found =
        other === undefined ? "there is none" : `found task '${other.task.description}'`;
      throw new ValidationError(`Workflow LOOP runs loops and nothing else; ${found}`, {
        hint: "Use SEQUENTIAL or PARALLEL: they run `tasks` and `loops`.",
      });
    }
    checkLoops(plan);
  }

  async execute(plan: Plan, run: Run): Promise<WorkflowResult> {
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    const taskOutputs: TaskOutput[] = [];
    for (const loop of plan.loops)
      taskOutputs.push(
        ...(await new LoopRun(loop, run, texts, lastIn(run, loop === plan.loops.at(-1))).execute()),
      );
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  }
}
