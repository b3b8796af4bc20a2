import type { SpreadOptions } from "../../contracts/ensemble-options.js";
import type { WorkRequest } from "../../contracts/network.js";
import type { RunOptions } from "../../contracts/run.js";
import type { PlanEntry } from "../../engine/plan/plan.js";
import type { DeliveryParts } from "../delivery-parts.js";
import type { ServicePorts } from "../ports.js";
import type { SharedWork, WorkOutput } from "../shared-work.js";
import type { UnitInputs, Units } from "./units.js";
import { ValidationError } from "../../contracts/errors.js";
import { ParallelExecutionError } from "../../contracts/workflow-errors.js";
import { asFields } from "../../util/objects.js";
import { BudgetOwner } from "../../plugins/resilience/budget/budget.js";
import { ServiceRedactor } from "../secrets.js";
import { stopOf, unitResultOf } from "./unit-result.js";
import { unitQueue, unitRunId, UNITS } from "./units.js";

const CONCURRENCY = 4;

/** The parts of the deliveries of units. */
export function unitParts(
  parts: DeliveryParts,
  units: Units,
  ports: ServicePorts,
  { concurrency = CONCURRENCY }: SpreadOptions,
): DeliveryParts {
  const { settings } = parts;
  return {
    ...parts,
    settings: {
      ...settings,
      name: unitQueue(settings.name),
      maxConcurrentRequests: concurrency,
    },
    shared: new Map([[UNITS, unitWork(units, ports)]]),
    gate: undefined, // it limits runs
    redactor: new ServiceRedactor(undefined), // the requesting run needs unredacted values
  };
}

/** Executes the tasks of a unit. */
function unitWork(units: Units, ports: ServicePorts): SharedWork {
  return {
    capability: { name: UNITS, type: "TASK", description: "Does some tasks of a run" },
    timeoutMs: undefined,
    resultTtlMs: undefined,
    async run(request: WorkRequest, options: RunOptions): Promise<WorkOutput> {
      const { run, unit, tasks, inputs } = unitInputs(request);
      const entries = units.at(unit)?.tasks ?? [];
      if (entries.map(({ id }) => id).join("\n") !== tasks.join("\n"))
        throw new ValidationError(`Unit ${unit + 1} of run '${run}' has other tasks here`, {
          hint: "Start all workers with the same program, and resume the run.",
        });
      const output = await ports.part(UNITS, entries.map(bareEntry))(inputs, {
        ...options,
        bindings: (bind) => {
          options.bindings?.(bind);
          bind.single(BudgetOwner).toConstantValue(run);
        },
        listeners: [], // no caller follows the progress of a unit
        runId: unitRunId(run, unit),
        tags: { ...options.tags, "spread.run": run },
        throwOnError: false,
      });
      // Failed tasks and an exhausted budget are a result. A unit that was cancelled or lost its
      // claim has no result.
      const hasResult = ParallelExecutionError.isInstance(output.error) || stopOf(output);
      if (output.error !== undefined && !hasResult) throw output.error;
      return { raw: "", parsed: unitResultOf(entries, output), output };
    },
  };
}

/**
 * Returns the task without the parts that the requesting run executes: reviews before the task, and
 * policies of the output.
 */
function bareEntry(entry: PlanEntry): PlanEntry {
  const { task } = entry;
  const { beforeReview, inputGuardrails, outputGuardrails } = task;
  if (beforeReview === undefined && inputGuardrails.length + outputGuardrails.length === 0)
    return entry;
  const none = { beforeReview: undefined, inputGuardrails: [], outputGuardrails: [] };
  return { ...entry, task: task.with(none) };
}

function unitInputs({ inputs }: WorkRequest): UnitInputs {
  const { run, unit, tasks } = inputs ?? {};
  if (typeof run !== "string" || !Number.isSafeInteger(unit) || !Array.isArray(tasks))
    throw new ValidationError("A request for a unit names its run, its number and its tasks", {
      about: "inputs",
    });
  const given = asFields(inputs?.["inputs"]) ?? {};
  // The caller compares the fields with the plan.
  return { run, unit: unit as number, tasks: tasks as readonly string[], inputs: given };
}
