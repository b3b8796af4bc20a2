import type { Loop } from "../../../contracts/loop.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { AnyTask } from "../../../contracts/task.js";
import { reviseOutput } from "../../../contracts/output.js";

/** Returns the outputs that a loop contributes to the run, by its `outputMode`. */
export function projectOutputs(
  loop: Loop,
  iterations: readonly (readonly TaskOutput[])[],
): readonly TaskOutput[] {
  const last = iterations.at(-1) ?? [];
  switch (loop.outputMode) {
    case "LAST_ITERATION":
      return last;
    case "FINAL_TASK_ONLY":
      return last.slice(-1);
    case "ALL_ITERATIONS":
      return loop.tasks.flatMap(
        (task, place) =>
          joined(
            task,
            iterations.flatMap((outputs) => outputs[place] ?? []),
          ) ?? [],
      );
  }
}

/** Combines one task's outputs: the texts of all, the value of the last. */
function joined(task: AnyTask, outputs: readonly TaskOutput[]): TaskOutput | undefined {
  const last = outputs.at(-1);
  if (last === undefined) return undefined;
  const raw = outputs
    .map((output, i) => (i === 0 ? output.raw : `--- iteration ${i + 1} ---\n\n${output.raw}`))
    .join("\n\n");
  const hasValue = task.outputType !== undefined || last.parsed !== last.raw;
  return reviseOutput(last, hasValue ? { raw, parsed: last.parsed } : { raw });
}
