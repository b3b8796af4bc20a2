import type { Agent } from "../../../contracts/agent.js";
import type { DelegationResponse } from "../../../contracts/delegation.js";
import type { AgentToolSource } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool, ToolContext } from "../../../contracts/tool.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { DelegateInput } from "./delegate-input.js";
import type { DelegationTemplateName } from "./peer-prompts.js";
import { Tokens } from "../../../contracts/tokens.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { canonicalRole } from "../../../contracts/role.js";
import { workerOf } from "../../../contracts/delegation.js";
import { delegateForModel } from "../../shared/delegation/delegate-for-model.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { delegateInput } from "./delegate-input.js";
import { DELEGATION_TEMPLATES } from "./peer-prompts.js";

type WorkerLookUps = Pick<TaskScope, "workers" | "get" | "all">;
type DelegationTexts = PromptTexts<DelegationTemplateName>;

const NONE: readonly AnyTool[] = Object.freeze([]);

/** Adds the tool `delegate` to agents that may delegate. */
export class PeerDelegation implements AgentToolSource {
  readonly #library = new PromptLibrary(DELEGATION_TEMPLATES);

  toolsFor({ agent, run }: TaskCall, scope: WorkerLookUps): readonly AnyTool[] {
    if (agent?.allowDelegation !== true) return NONE;
    return [
      delegateTool(agent, scope, this.#library.textsOf(scope.all(Tokens.PromptTemplates), run)),
    ];
  }
}

function delegateTool(agent: Agent, scope: WorkerLookUps, texts: DelegationTexts): AnyTool {
  const own = canonicalRole(agent.role);
  const roles = scope.workers.map(({ role }) => role).filter((role) => canonicalRole(role) !== own);
  const descriptions = {
    agentRole: texts.render("delegation.agentRole", {}),
    taskDescription: texts.render("delegation.taskDescription", {}),
  };
  return tool({
    name: "delegate",
    description: texts.render("delegation.tool", {}),
    replay: "run",
    delegates: true,
    input: delegateInput(roles, descriptions),
    execute: (input, ctx) => delegate(input, ctx, texts),
  });
}

async function delegate(
  { agentRole, taskDescription }: DelegateInput,
  { scope, toolCallId }: ToolContext,
  texts: DelegationTexts,
): Promise<ToolResult> {
  if (agentRole.trim() === "")
    return ToolResult.failure(
      "agentRole must not be null or blank. Provide the target agent's role.",
    );
  if (taskDescription.trim() === "")
    return ToolResult.failure(
      "taskDescription must not be null or blank. Provide a clear subtask description.",
    );
  return peerAnswer(
    await delegateForModel(
      scope,
      { agentRole, taskDescription },
      { expectedOutput: texts.render("delegation.expectedOutput", {}), toolCallId },
    ),
  );
}

/**
 * Returns the output of the worker or the reason of its failure. Returns the text of the refusal if
 * no worker was called.
 */
function peerAnswer(response: DelegationResponse): ToolResult {
  if (response.status !== "FAILURE") return ToolResult.success(response.rawOutput ?? "");
  const reason = response.errors.join("; ");
  return workerOf(response) === undefined ? ToolResult.success(reason) : ToolResult.failure(reason);
}
