// Reviews in the form of a plugin of another package.
import type {
  After,
  OnReviewTimeout,
  Plugin,
  Replace,
  ReviewAsker,
  ReviewDecision as Decision,
  ReviewGate,
  ReviewQuestion,
  ReviewRequest,
  ReviewStore,
  TaskCall,
  TaskOutput,
} from "agentensemble";
import {
  asReviewDecision,
  checkReviewOptions,
  definePlugin,
  endsRun,
  ExitEarlySignal,
  replace,
  ReviewDecision,
  ReviewError,
  ReviewTimeoutError,
  ReviewUnavailableError,
  Tokens,
} from "agentensemble";

/** The defaults of reviews, and their store without a handler. */
export interface ReviewPluginOptions {
  readonly timeoutMs?: number;
  readonly onTimeout?: OnReviewTimeout;
  readonly store?: ReviewStore;
}

type OpenRequest = Omit<ReviewRequest, "signal">;
type Edit = Replace<Pick<TaskOutput, "raw">>;

/** Passes questions to the run's handler, else to its store, and applies the time limit. */
class Gate implements ReviewGate {
  constructor(readonly defaults: ReviewPluginOptions) {}

  readonly canAsk: ReviewGate["canAsk"] = (run) =>
    run.find(Tokens.ReviewHandler) !== undefined ||
    run.find(Tokens.ReviewStore)?.isWatched() === true;

  async ask(question: ReviewQuestion, asker: ReviewAsker): Promise<Decision> {
    const { run, taskId, agentRole } = asker;
    if (!this.canAsk(run)) throw new ReviewUnavailableError("No reviewer can answer the review");
    const clock = run.get(Tokens.Clock);
    const startedMs = clock.monotonicMs();
    const request = this.#request(question, asker, clock.now());
    const { runId: _, ...told } = request;
    run.emit({ type: "review_requested", ...told });
    let decision: Decision | undefined;
    let timedOut = false;
    try {
      decision = await answerOf(request, asker);
      timedOut = decision.timedOut === true || decision === SILENT_CONTINUE;
      return decision;
    } catch (error) {
      timedOut = ReviewTimeoutError.isInstance(error);
      throw error;
    } finally {
      const endedMs = clock.monotonicMs();
      const { by, comment } = decision ?? {};
      const remarks = {
        ...(by !== undefined && { by }),
        ...(comment !== undefined && { comment }),
      };
      const end = { decision: decision?.type ?? ("FAIL" as const), timedOut, ...remarks };
      run.recordReview({ request, startedMs, endedMs, ...end });
      const { reviewId } = request;
      const durationMs = endedMs - startedMs;
      run.emit({ type: "review_resolved", taskId, agentRole, reviewId, durationMs, ...end });
    }
  }

  #request(question: ReviewQuestion, asker: ReviewAsker, now: Date): OpenRequest {
    const { key, prompt, requiredRole, toolName, callId, input, truncated, ...rest } = question;
    const { run, taskId, agentRole, attempt } = asker;
    const { timeoutMs = 300_000, onTimeout = "EXIT_EARLY" } = this.defaults;
    const ms = question.timeoutMs ?? timeoutMs;
    const asked = typeof prompt === "object" ? prompt.fill(run.inputs) : prompt;
    const optional = { prompt: asked, requiredRole, toolName, callId, input };
    const present = Object.entries(optional).filter(([, value]) => value !== undefined);
    return {
      reviewId: `${run.id}/${taskId}@${attempt}/${question.timing}/${key}`,
      runId: run.id,
      taskId,
      agentRole,
      timing: rest.timing,
      taskDescription: rest.taskDescription,
      taskOutput: rest.taskOutput,
      requestedAt: now.toISOString(),
      ...(ms > 0 && { deadline: new Date(now.getTime() + ms).toISOString() }),
      timeoutMs: ms,
      onTimeout: question.onTimeout ?? onTimeout,
      ...Object.fromEntries(present),
      ...(truncated === true && { truncated }),
      ...(rest.editSchema !== undefined && { editSchema: rest.editSchema }),
    };
  }
}

/** @throws ReviewError for an invalid decision: the gate stays closed. */
function decisionOf(answer: unknown): Decision {
  try {
    return asReviewDecision(answer);
  } catch (error) {
    throw new ReviewError(`The review has no decision: ${(error as Error).message}`);
  }
}

const SILENT_CONTINUE = ReviewDecision.continue();

/** The answer of the handler or of the store, within the time of the question. */
async function answerOf(request: OpenRequest, { run, signal }: ReviewAsker): Promise<Decision> {
  const done = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const interrupted = new Promise<Decision>((resolve, fail) => {
    const late = (): void => {
      if (request.onTimeout === "FAIL") fail(new ReviewTimeoutError(request.timeoutMs));
      else if (request.onTimeout === "CONTINUE") resolve(SILENT_CONTINUE);
      else resolve(ReviewDecision.exitEarly({ timedOut: true }));
    };
    if (request.timeoutMs > 0) timer = setTimeout(late, request.timeoutMs);
    const end = (): void => fail(signal.reason as Error);
    signal.addEventListener("abort", end, { signal: done.signal });
  });
  const handler = run.find(Tokens.ReviewHandler);
  const asked = async (): Promise<Decision> => {
    if (handler !== undefined)
      return decisionOf(await handler({ ...request, signal: done.signal }));
    const store = run.get(Tokens.ReviewStore);
    const kept = await store.ask(request);
    return kept.decision ?? (await store.waitFor(request.reviewId, done.signal));
  };
  const failed = (error: unknown): Decision => {
    if (ExitEarlySignal.isInstance(error))
      return ReviewDecision.exitEarly({ timedOut: error.timedOut });
    if (endsRun(error) || ReviewError.isInstance(error) || ReviewTimeoutError.isInstance(error))
      throw error;
    throw new ReviewError("The review failed", { cause: error });
  };
  try {
    return await Promise.race([asked().catch(failed), interrupted]);
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}

/**
 * Returns whether the output of a task requires a review, as far as known before the output exists.
 */
function mayBeReviewed({ task: { review }, run, isLast }: TaskCall): boolean {
  if (review !== undefined) return review.mode === "REQUIRED";
  const { reviewPolicy = "NEVER" } = run.options;
  return reviewPolicy === "AFTER_LAST_TASK" ? isLast !== undefined : reviewPolicy !== "NEVER";
}

async function ask(call: TaskCall, question: ReviewQuestion): Promise<Decision> {
  const { run, taskId, parentTaskId, agent, attempt, signal } = call;
  const agentRole = agent?.role ?? "(deterministic)";
  const asker = { run, taskId, parentTaskId, agentRole, attempt, signal };
  const decision = await run.get(Tokens.ReviewGate).ask(question, asker);
  if (decision.type !== "EXIT_EARLY") return decision;
  const timedOut = decision.timedOut === true;
  throw new ExitEarlySignal(`The review of '${call.task.description}' ended the run`, { timedOut });
}

async function before(call: TaskCall): Promise<void> {
  const { description, beforeReview } = call.task;
  const isAsked = beforeReview?.mode === "REQUIRED";
  if (!isAsked && !mayBeReviewed(call)) return;
  if (call.run.find(Tokens.ReviewGate)?.canAsk(call.run) !== true)
    throw new ReviewUnavailableError(`No reviewer can answer the review of '${description}'`);
  const about = { taskDescription: description, taskOutput: "", key: "before" };
  if (isAsked) await ask(call, { ...beforeReview, ...about, timing: "BEFORE_EXECUTION" });
}

async function after(call: After<TaskCall, "output", TaskOutput>): Promise<void | Edit> {
  if (call.outcome !== "ok" || !mayBeReviewed(call)) return undefined;
  const { task, run, isLast, output } = call;
  const byPolicy = run.options.reviewPolicy === "AFTER_LAST_TASK" && task.review === undefined;
  if (byPolicy && isLast?.(output) !== true) return undefined;
  const about = { taskDescription: task.description, taskOutput: output.raw, key: "after" };
  const decision = await ask(call, { ...task.review, ...about, timing: "AFTER_EXECUTION" });
  const { revisedOutput = output.raw } = decision;
  return decision.type === "EDIT" && revisedOutput !== output.raw
    ? replace({ raw: revisedOutput })
    : undefined;
}

/** Replaces the standard plugin of this name. */
export function review(options: ReviewPluginOptions = {}): Plugin {
  checkReviewOptions("review", options);
  const { store } = options;
  return definePlugin({
    name: "review",
    bind(bind) {
      bind.single(Tokens.ReviewGate).toConstantValue(new Gate(options));
      if (store !== undefined) bind.single(Tokens.ReviewStore).toConstantValue(store);
    },
    apply({ hooks }) {
      hooks.beforeTask.tap({ name: "review", lane: "policy", order: "post" }, before);
      hooks.afterTask.tap({ name: "review", lane: "review" }, after);
    },
  });
}
