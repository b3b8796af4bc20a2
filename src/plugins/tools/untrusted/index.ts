import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";

/**
 * Once a run has read text from outside, every call of a tool that writes, sends or does not say what it does waits for a person. Such text comes from a tool
 * with `untrusted: true`, in a delegate's task too, and from memory that was written, or a lesson that was drawn,
 * after a run had read it. Where nobody can answer such a call fails its
 * task.
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
