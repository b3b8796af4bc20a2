import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";

/**
 * After a run has read text from outside, a person must approve some calls: those of tools that
 * write, send or declare no effect. Text from outside comes from a tool with `untrusted: true`, in
 * a delegated task too. It also comes from memory or a lesson that was recorded after a run had
 * read such text. Without a review handler the call fails its task.
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
