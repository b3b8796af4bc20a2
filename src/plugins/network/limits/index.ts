import type { NetworkBackend } from "../../../contracts/network.js";
import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { isObject } from "../../../util/objects.js";

/**
 * Counts rate limits and budgets in the backend, so that they apply to all processes together. The
 * backend stays open. A plugin that binds `Tokens.RateWindow` or `Tokens.BudgetAccounts` itself
 * replaces that part.
 * @throws ValidationError for a backend without shared limits, such as the backends in memory and
 * in a folder.
 */
export function sharedLimits(backend: NetworkBackend): Plugin {
  const limits = isObject(backend) ? backend.limits : undefined;
  if (limits === undefined)
    throw new ValidationError(
      `The backend ${isObject(backend) ? `'${backend.name}' ` : ""}does not count rate limits and budgets`,
      { hint: "Use a backend for several processes, for instance postgres({ url })." },
    );
  return definePlugin({
    name: "shared-limits",
    bind(bind) {
      bind.single(Tokens.RateWindow, { default: true }).toConstantValue(limits.rateWindow);
      bind.single(Tokens.BudgetAccounts, { default: true }).toConstantValue(limits.budgetAccounts);
    },
  });
}
