import type { Plugin } from "../../../contracts/plugin.js";
import type { DelegationPoliciesOptions } from "./policy-judge.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { PolicyJudge } from "./policy-judge.js";

export type { DelegationPoliciesOptions } from "./policy-judge.js";

/**
 * Calls the `DelegationPolicy` contributions before every delegation, including the ensemble's
 * `delegationPolicies`. All other changes to the request come first, so that the policies judge the
 * final request.
 * @throws ValidationError for an unknown option or a time limit that is not a positive number.
 */
export function delegationPolicies(options: DelegationPoliciesOptions = {}): Plugin {
  const judge = new PolicyJudge(options);
  return definePlugin({
    name: "delegation-policies",
    apply({ hooks }) {
      hooks.beforeDelegation.tap(
        { name: "delegation-policies", lane: "transform", order: "post" },
        (call) => judge.ask(call),
      );
      hooks.beforeDelegation.tap(
        { name: "delegation-policies", lane: "policy", order: "pre" },
        (call) => judge.deliver(call),
      );
    },
    dispose: () => judge.dispose(),
  });
}
