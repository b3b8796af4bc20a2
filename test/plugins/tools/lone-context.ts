import type { ToolContext } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { stagedContext, StagedScope } from "../../../src/plugins/testing/staged-scope.js";

/** The context of a tool that is called without a run. */
export function loneContext(
  scope: StagedScope = new StagedScope("run-1", new ScriptedModel([])),
): ToolContext {
  return stagedContext(scope);
}
