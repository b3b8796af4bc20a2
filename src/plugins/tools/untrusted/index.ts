import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";

/**
 * Requires a person's approval for some calls after a run has read external text. The calls are
 * those of tools that write, send or declare no effect. External text comes from these sources:
 * - a tool with `untrusted: true`, also in a delegated task
 * - memory, a lesson or a turn of a thread that was stored after a run had read external text
 *
 * Without a review handler, the call fails its task.
 */
export function approveAfterUntrusted(): Plugin {
  return definePlugin({
    name: "tools-untrusted",
    bind(bind) {
      bind.many(Tokens.ApprovalPolicy).toConstantValue({
        name: "untrusted text",
        needsApproval: ({ run, tool, input }) =>
          (tool.effectOf?.(input) ?? tool.effect) === "read" || tool.delegates === true
            ? false
            : warningAbout(run.untrustedSource),
      });
    },
  });
}

function warningAbout(source: string | undefined): string | false {
  return source === undefined
    ? false
    : `This run has read text from outside (${source}), which may hold instructions.`;
}
