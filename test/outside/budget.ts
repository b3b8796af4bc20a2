// A limit of tokens as a plugin of another package would have it.
import type { HookRun, LlmCall, Plugin, Reject } from "agentensemble";
import { BudgetExceededError, definePlugin, reject, Tokens } from "agentensemble";

/** What one run and the runs that joined it have used. */
interface Account {
  readonly owner: HookRun;
  used: number;
  reserved: number;
  closed: boolean;
}

/** Every run may use this many tokens, together with the runs that join it. A call that might exceed them stops the run. */
export function tokenBudget(o: {
  readonly maxTokens: number;
  readonly maxOutputTokensPerCall: number;
}): Plugin {
  const accounts = new WeakMap<HookRun, Account>();
  const reservations = new WeakMap<object, number>();

  const accountOf = (run: HookRun): Account => {
    const { parent } = run;
    const known = accounts.get(run);
    if (known !== undefined) return known;
    const account =
      parent === undefined
        ? { owner: run, used: 0, reserved: 0, closed: false }
        : accountOf(parent);
    accounts.set(run, account);
    return account;
  };

  const exceed = (call: LlmCall, account: Account): Reject => {
    const message = `Budget maxTokens exceeded: ${account.used} of ${o.maxTokens} tokens used`;
    if (!account.closed) {
      const { taskId, agentRole } = call;
      account.owner.emit({
        type: "budget_exceeded",
        taskId,
        agentRole,
        limit: "maxTokens",
        allowed: o.maxTokens,
        used: account.used,
        action: "stop",
      });
      account.closed = true;
      account.owner.stop(new BudgetExceededError(message, "maxTokens"));
      if (call.run !== account.owner) call.run.stop(new BudgetExceededError(message, "maxTokens"));
    }
    return reject(new BudgetExceededError(message, "maxTokens"));
  };

  return definePlugin({
    name: "acme-budget",
    apply({ hooks }) {
      hooks.beforeLlmCall.tap({ name: "reserve", lane: "policy" }, async (call) => {
        const { run, request } = call;
        const account = accountOf(run);
        const text = JSON.stringify(request.messages);
        const input = await run.get(Tokens.TokenCounter).count(text);
        const needed = input + (request.maxOutputTokens ?? o.maxOutputTokensPerCall);
        if (account.closed || account.used + account.reserved + needed > o.maxTokens)
          return exceed(call, account);
        account.reserved += needed;
        reservations.set(request, needed);
        return undefined;
      });
      hooks.afterLlmCall.tap({ name: "settle" }, ({ run, request, outcome, response }) => {
        const account = accountOf(run);
        account.reserved -= reservations.get(request) ?? 0;
        reservations.delete(request);
        if (outcome === "ok")
          account.used += (response.usage?.inputTokens ?? 0) + (response.usage?.outputTokens ?? 0);
      });
    },
  });
}
