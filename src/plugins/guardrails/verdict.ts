import { AgentEnsembleError, messageOf, RunCancelledError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";

/** Why a guardrail refuses. */
export interface Verdict {
  readonly reason: string;
  /** What it threw, when that was the reason. */
  readonly cause?: unknown;
}

/**
 * Asks one guardrail. Only `true` and `{ ok: true }` pass: one that throws, takes too long or answers anything else has refused.
 * The guardrail's signal is aborted at the time limit and with `ended`, and neither waits for it.
 * @throws the reason of `ended` when the task or the run ends first.
 */
export function judge(
  timeoutMs: number,
  ended: AbortSignal,
  ask: (signal: AbortSignal) => unknown,
): Promise<Verdict | undefined> {
  if (ended.aborted) return Promise.reject(endOf(ended));
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const release = (): void => {
      clearTimeout(timer);
      ended.removeEventListener("abort", onEnd);
    };
    const onEnd = (): void => {
      release();
      reject(endOf(ended));
      controller.abort(ended.reason);
    };
    const onTimeout = (): void => {
      const reason = `the guardrail did not decide within ${timeoutMs} ms`;
      release();
      resolve({ reason });
      controller.abort(new Error(reason));
    };
    const timer = setTimeout(onTimeout, timeoutMs);
    ended.addEventListener("abort", onEnd, { once: true });
    // A decision that comes too late settles what is settled, and is ignored.
    void decide(ask, controller.signal).then((verdict) => {
      release();
      resolve(verdict);
    });
  });
}

async function decide(
  ask: (signal: AbortSignal) => unknown,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  try {
    return verdictOf(await ask(signal));
  } catch (error) {
    return { reason: `the guardrail threw: ${messageOf(error)}`, cause: error };
  }
}

function verdictOf(answer: unknown): Verdict | undefined {
  if (answer === true) return undefined;
  const { ok, reason } =
    typeof answer === "object" && answer !== null
      ? (answer as { readonly ok?: unknown; readonly reason?: unknown })
      : {}; // looked at, not trusted
  if (ok === true) return undefined;
  if (ok === false)
    return {
      reason:
        typeof reason === "string" && reason.trim() !== ""
          ? reason
          : "the guardrail gave no reason",
    };
  return {
    reason: `the guardrail returned ${preview(answer)}; it must return true, { ok: true } or { ok: false, reason }`,
  };
}

function endOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return AgentEnsembleError.isInstance(reason)
    ? reason
    : new RunCancelledError("The run ended while a guardrail was judging", { cause: reason });
}
