import { AgentEnsembleError, RunCancelledError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import type { RefusalReason } from "../shared/guardrail-refusal.js";
import { withTimeout } from "../../util/abort/timeouts.js";
import { messageOf } from "../../util/errors.js";

/**
 * Calls one guardrail. Only `true` and `{ ok: true }` pass. A guardrail that throws, exceeds the
 * time limit or returns another value refuses. The signal of the guardrail is aborted at the time
 * limit and with `ended`. The call does not wait for the guardrail after that.
 * @throws the reason of `ended` when the task or the run ends first.
 */
export function askGuardrail(
  timeoutMs: number,
  ended: AbortSignal,
  ask: (signal: AbortSignal) => unknown,
): Promise<RefusalReason | undefined> {
  return withTimeout((signal) => runGuardrail(ask, signal), {
    ms: timeoutMs,
    late: () => ({ reason: `the guardrail did not decide within ${timeoutMs} ms` }),
    signal: ended,
    ended: () => endOf(ended),
  });
}

async function runGuardrail(
  ask: (signal: AbortSignal) => unknown,
  signal: AbortSignal,
): Promise<RefusalReason | undefined> {
  try {
    return verdictOf(await ask(signal));
  } catch (error) {
    return { reason: `the guardrail threw: ${messageOf(error)}`, cause: error };
  }
}

function verdictOf(answer: unknown): RefusalReason | undefined {
  if (answer === true) return undefined;
  if (answer === false) return { reason: "the guardrail returned no reason" };
  const { ok, reason } =
    typeof answer === "object" && answer !== null
      ? (answer as { readonly ok?: unknown; readonly reason?: unknown })
      : {}; // each field is checked
  if (ok === true) return undefined;
  if (ok === false)
    return {
      reason:
        typeof reason === "string" && reason.trim() !== ""
          ? reason
          : "the guardrail returned no reason",
    };
  return {
    reason: `the guardrail returned ${preview(answer)}; it must return true, false, { ok: true } or { ok: false, reason }`,
  };
}

function endOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return AgentEnsembleError.isInstance(reason)
    ? reason
    : new RunCancelledError("The run ended while a guardrail was judging", { cause: reason });
}
