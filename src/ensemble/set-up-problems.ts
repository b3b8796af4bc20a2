import { resolve } from "node:path";
import type { SetUpProblem } from "../contracts/command-line.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { HookRun } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { EnsembleShape } from "../engine/run/prepare-run.js";
import type { KernelInternals } from "../kernel/kernel.js";
import { chooseCapture } from "../contracts/capture-choice.js";
import { ValidationError } from "../contracts/errors.js";
import { withSuccessors } from "../contracts/handoff.js";
import { ReviewUnavailableError } from "../contracts/state-errors.js";
import { isTool, noReviewer } from "../contracts/tool.js";
import { Tokens } from "../contracts/tokens.js";
import { createPlan } from "../engine/plan/plan.js";
import { Settings } from "../engine/plan/settings.js";
import { ActiveHookRun } from "../engine/run/hook-run.js";
import { isWritableFolder } from "../util/files/writable-folder.js";
import { reportModelProblems } from "./check-models.js";

/** Collects errors. */
class Problems {
  readonly found: SetUpProblem[] = [];

  add(page: string, error: unknown): void {
    this.found.push({ error, page });
  }

  /**
   * Returns the result of the check. If the check throws, records the error and returns
   * `undefined`.
   */
  try<T>(page: string, check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      this.add(page, error);
      return undefined;
    }
  }
}

/**
 * Returns all reasons why a run would be refused, or would fail at an unanswered review. Needs no
 * inputs and calls no model.
 */
export async function setUpProblems(
  kernel: KernelInternals,
  options: EnsembleOptions,
  shape: EnsembleShape,
): Promise<readonly SetUpProblem[]> {
  const problems = new Problems();
  try {
    await kernel.ready();
  } catch (error) {
    problems.add("docs/writing-a-plugin.md", error);
    return problems.found;
  }
  const settings = new Settings(kernel, options, undefined);
  const draft = problems.try("docs/concepts.md", () =>
    createPlan(options, shape.entries, undefined),
  );
  const workflow = problems.try("docs/concepts.md", () => settings.workflow(shape.workflow));
  checkTraces(settings, problems);
  await checkStores(settings, options, problems);
  if (draft === undefined || workflow === undefined) return problems.found;
  const { plan } = draft;
  problems.try("docs/concepts.md", () => shape.validate(plan, settings, workflow));
  try {
    reportModelProblems(plan, settings, workflow, (error) =>
      problems.add("docs/providers.md", error),
    );
  } catch {
    // A model name without a provider. validate() has already reported it.
  }
  const run = ActiveHookRun.idle({ id: "doctor", inputs: {}, tags: {} }, settings);
  if (run.find(Tokens.ReviewGate)?.canAsk(run) !== true)
    for (const { task } of plan.tasks) checkReviewer(task, run, problems);
  return problems.found;
}

function isRequired(review: AnyTask["review"]): boolean {
  return review?.mode === "REQUIRED";
}

function checkReviewer(task: AnyTask, run: HookRun, problems: Problems): void {
  const { reviewPolicy = "NEVER" } = run.options;
  const after = task.review === undefined ? reviewPolicy !== "NEVER" : isRequired(task.review);
  if (after || isRequired(task.beforeReview))
    problems.add(
      "docs/review.md",
      new ReviewUnavailableError(
        `Task '${task.description}' needs a review, but no reviewer can answer it`,
      ),
    );
  const agents = task.agent === undefined ? [task] : withSuccessors([task.agent]);
  const tools = [...agents].flatMap((agent) => agent.tools);
  for (const tool of [...tools, ...run.all(Tokens.Tool)])
    if (isTool(tool) && (tool.client === true || tool.requireApproval === true))
      problems.add(
        "docs/review.md",
        noReviewer(tool.name, tool.client === true ? "page" : "person"),
      );
}

/** Checks the stores of memory and lessons. */
async function checkStores(
  settings: Settings,
  { memory }: EnsembleOptions,
  problems: Problems,
): Promise<void> {
  const stores = [
    ["docs/memory-stores.md", settings.find(Tokens.MemoryStore)],
    ["docs/memory-stores.md", memory?.longTerm],
    ["docs/reflection.md", settings.find(Tokens.ReflectionStore)],
  ] as const;
  for (const [page, store] of stores) {
    try {
      await store?.check?.();
    } catch (error) {
      problems.add(page, error);
    }
  }
}

/** Checks the folder of the traces of the capture mode. */
function checkTraces(settings: Settings, problems: Problems): void {
  const folder = problems.try("docs/capture.md", () => chooseCapture(settings, undefined))?.mode
    .exportsTo;
  if (folder === undefined || settings.all(Tokens.TraceExporter).length > 0) return;
  const path = resolve(folder);
  if (isWritableFolder(path)) return;
  problems.add(
    "docs/capture.md",
    new ValidationError(`Traces can't be written to the folder ${path}`, {
      hint: "Make the folder writable, choose another one in the capture mode, or set traceExporter.",
    }),
  );
}
