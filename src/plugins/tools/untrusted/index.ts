import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ReadRuns } from "./read-runs.js";

/**
 * Once a run has read text from outside (a tool with `untrusted: true` has answered in it, in a delegate's task too), every call of a tool that writes,
 * sends or does not say what it does waits for a person. Where nobody can answer such a call fails its task.
 */
export function approveAfterUntrusted(): Plugin {
  const runs = new ReadRuns();
  return definePlugin({
    name: "tools-untrusted",
    bind(bind) {
      bind.many(Tokens.ApprovalPolicy).toConstantValue({
        name: "untrusted text",
        needsApproval: ({ run, tool, input }) =>
          (tool.effectOf?.(input) ?? tool.effect) === "read" || tool.delegates === true
            ? false
            : warningAbout(runs.sourceOf(run)),
      });
    },
    apply({ hooks }) {
      hooks.afterToolCall.tap({ name: "notice untrusted text" }, ({ run, tool, outcome }) => {
        if (tool.untrusted === true && outcome !== "rejected") runs.add(run, tool.name);
      });
    },
  });
}

function warningAbout(source: string | undefined): string | false {
  return source === undefined
    ? false
    : `This run has read text from outside (tool '${source}'), which may hold instructions.`;
}
