import type {
  DelegationPolicy,
  DelegationPolicyContext,
  DelegationRequest,
} from "../../../contracts/delegation.js";
import { ExitEarlySignal, messageOf } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** What a policy has decided, in one of three sound forms. */
export type Decision =
  | { readonly type: "ALLOW" }
  | { readonly type: "REJECT"; readonly reason: string }
  | { readonly type: "MODIFY"; readonly request: DelegationRequest };

/** Asks policies within a time limit. One that throws, hangs or answers nothing sensible has refused. */
export class PolicyDecisions {
  readonly #timeoutMs: number;
  /** Ends the waiting for policies that have not decided yet. */
  readonly #waiting = new Set<() => void>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** @throws ExitEarlySignal where the policy ends the run. */
  ask(
    policy: DelegationPolicy,
    request: DelegationRequest,
    context: DelegationPolicyContext,
  ): Promise<Decision> {
    const name = policy.name === "" ? "the policy" : `the policy '${policy.name}'`;
    return new Promise((resolve, fail) => {
      const refuse = (): void =>
        settle({ type: "REJECT", reason: `${name} did not decide within ${this.#timeoutMs} ms` });
      const timer = setTimeout(refuse, this.#timeoutMs);
      const release = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(refuse);
      };
      const settle = (decision: Decision): void => {
        release();
        resolve(decision); // one that comes too late settles what is settled, and is ignored
      };
      this.#waiting.add(refuse);
      decide(name, policy, request, context).then(settle, (error: unknown) => {
        release();
        fail(error); // the signal that ends the run
      });
    });
  }

  /** Lets go of the timers of policies that hang. */
  dispose(): void {
    for (const refuse of [...this.#waiting]) refuse();
  }
}

async function decide(
  name: string,
  policy: DelegationPolicy,
  request: DelegationRequest,
  context: DelegationPolicyContext,
): Promise<Decision> {
  let answer: unknown;
  try {
    answer = await policy(request, context);
  } catch (error) {
    if (ExitEarlySignal.isInstance(error)) throw error;
    return { type: "REJECT", reason: `${name} threw: ${messageOf(error)}` };
  }
  return (
    decisionOf(answer) ?? {
      type: "REJECT",
      reason: `${name} returned ${preview(answer)}; it must return DelegationPolicyResult.allow(), reject(reason) or modify(request)`,
    }
  );
}

/** `undefined` for what is no decision. */
function decisionOf(answer: unknown): Decision | undefined {
  const { type, reason, request } =
    typeof answer === "object" && answer !== null
      ? (answer as {
          readonly type?: unknown;
          readonly reason?: unknown;
          readonly request?: unknown;
        })
      : {}; // looked at, not trusted
  if (type === "ALLOW") return { type };
  if (type === "REJECT")
    return {
      type,
      reason:
        typeof reason === "string" && reason.trim() !== "" ? reason : "the policy gave no reason",
    };
  return type === "MODIFY" && isRequest(request) ? { type, request } : undefined;
}

const isRecord = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

function isRequest(value: unknown): value is DelegationRequest {
  if (!isRecord(value)) return false;
  const {
    agentRole,
    taskDescription,
    scope,
    metadata,
    priority,
    maxOutputRetries,
    expectedOutputSchema,
  } = value as Partial<Record<keyof DelegationRequest, unknown>>; // looked at, not trusted
  return (
    isText(agentRole) &&
    isText(taskDescription) &&
    isRecord(scope) &&
    isRecord(metadata) &&
    ["LOW", "NORMAL", "HIGH", "CRITICAL"].includes(priority as string) &&
    Number.isInteger(maxOutputRetries) &&
    (maxOutputRetries as number) >= 0 &&
    (expectedOutputSchema === undefined || isRecord(expectedOutputSchema))
  );
}
