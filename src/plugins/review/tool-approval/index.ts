import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { checkApprovable, ToolApprovals } from "./tool-approvals.js";

/**
 * Requests an approval of tool calls if the tool or an `ApprovalPolicy` requires it. It is one of
 * the standard plugins.
 */
export function toolApproval(): Plugin {
  const approvals = new ToolApprovals();
  return definePlugin({
    name: "review-tool-approval",
    apply({ hooks }) {
      hooks.beforeTask.tap({ name: "approval", lane: "policy", order: "post" }, checkApprovable);
      hooks.beforeToolCall.tap(
        { name: "ask for approval", lane: "transform", order: "post" },
        (call) => approvals.ask(call),
      );
      hooks.beforeToolCall.tap({ name: "approval", lane: "policy" }, (call) =>
        approvals.isAsked(call) ? approvals.judge(call) : undefined,
      );
    },
  });
}
