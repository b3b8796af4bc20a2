import type { ToolCall } from "../../../contracts/chat-model.js";
import type { Reject, Replace, TaskCall, ToolCallContext } from "../../../contracts/hooks.js";
import type { ReviewGate, ReviewQuestion } from "../../../contracts/review.js";
import type { Awaitable, JsonSchema } from "../../../contracts/types.js";
import { reject, replace } from "../../../contracts/hooks.js";
import type { Agent } from "../../../contracts/agent.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { AnyTool } from "../../../contracts/tool.js";
import { withSuccessors } from "../../../contracts/handoff.js";
import { isTool, noReviewer } from "../../../contracts/tool.js";
import { Tokens } from "../../../contracts/tokens.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { checkToolInput } from "../../../contracts/tool-input.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { Schemas } from "../../shared/schemas.js";
import { askUntilFits } from "../shared/ask-until-fits.js";
import { REVIEW_TEMPLATES } from "../shared/review-prompts.js";
import { ofTool, policiesWantApproval, toolWantsApproval } from "./approval-need.js";
import { editedInput, editHint } from "./edited-input.js";
import { shownInput } from "./shown-input.js";

/** The outcome of an approval: the approved input, or the text for the model. */
type Approval = { readonly input: unknown } | { readonly rejection: string };

/**
 * Requests approvals of tool calls after the taps that may change them. Ensures that only the
 * approved input is used.
 */
export class ToolApprovals {
  readonly #approvals = new WeakMap<ToolCall, Approval>();
  readonly #schemas = new Schemas();
  readonly #library = new PromptLibrary(REVIEW_TEMPLATES);

  /**
   * Requests an approval if the tool or a policy requires it. An edit changes the arguments.
   * @throws ReviewUnavailableError if no reviewer can answer.
   */
  ask(call: ToolCallContext): Awaitable<void | Replace<Pick<ToolCallContext, "input">>> {
    if (toolWantsApproval(call)) return this.#approve(call, true);
    const policies = call.run.all(Tokens.ApprovalPolicy);
    return policies.length === 0
      ? undefined
      : policiesWantApproval(policies, call).then((wish) =>
          wish === false ? undefined : this.#approve(call, wish),
        );
  }

  /** Refuses a call that was not approved, or was changed after its approval. */
  async judge(call: ToolCallContext): Promise<void | Reject> {
    const approval = this.#approvals.get(call.call);
    if (approval === undefined) return undefined;
    this.#approvals.delete(call.call);
    if ("rejection" in approval) return reject(approval.rejection);
    if (await isSame(call, approval.input)) return undefined;
    return reject(
      `The arguments of tool '${call.tool.name}' were changed after a person had approved them`,
    );
  }

  /** Whether an approval of the call was requested. Most calls need none. */
  isAsked({ call }: ToolCallContext): boolean {
    return this.#approvals.has(call);
  }

  async #approve(
    call: ToolCallContext,
    reason: string | true,
  ): Promise<void | Replace<Pick<ToolCallContext, "input">>> {
    const { tool, input } = call;
    const schema = tool.input === undefined ? undefined : this.#schemas.find(tool.input);
    const question = questionOf(call, reason, schema);
    const decision = await askUntilFits(gateFor(call), question, call, (text) =>
      editedInput(tool, input, text),
    );
    if (decision.type === "EXIT_EARLY") {
      this.#approvals.set(call.call, { rejection: this.#rejection(call, decision) });
      return undefined;
    }
    this.#approvals.set(call.call, { input: decision.type === "EDIT" ? decision.value : input });
    return decision.type === "EDIT" ? replace({ input: decision.value }) : undefined;
  }

  /** The text that the model receives instead of a result. */
  #rejection(
    { run, tool, input }: ToolCallContext,
    {
      timedOut,
      comment = "",
    }: { readonly timedOut: boolean; readonly comment: string | undefined },
  ): string {
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    const own = ofTool(tool.name, "approvalRejection", () => tool.approvalRejection?.(input));
    const rejection = own ?? texts.render("review.rejected", { tool: tool.name });
    if (timedOut) return texts.render("review.unanswered", { rejection });
    return comment.trim() === ""
      ? rejection
      : texts.render("review.commented", { rejection, comment });
  }
}

/**
 * Refuses a task before it causes costs if no reviewer can answer its questions. Such a task has a tool
 * that always needs approval, or that a page executes.
 * @throws ReviewUnavailableError
 */
export function checkApprovable({ run, task, agent }: TaskCall): void {
  const own = task.handler === undefined ? toolsUsed(task, agent) : [task.handler];
  const tool =
    own.find(needsAnswer) ??
    (task.handler === undefined ? run.all(Tokens.Tool).find(needsAnswer) : undefined);
  if (tool !== undefined) gateFor({ run, tool });
}

/** Returns the tools of a task, and of the agents that may take it over. */
function toolsUsed({ tools }: AnyTask, agent: Agent | undefined): readonly unknown[] {
  if (agent?.handoffs === undefined) return agent?.tools ?? tools;
  return [...withSuccessors([agent])].flatMap((one) => one.tools);
}

function needsAnswer(tool: unknown): tool is AnyTool {
  if (!isTool(tool)) return false;
  return (
    tool.client === true || (tool.requireApproval === true && tool.needsApproval === undefined)
  );
}

function gateFor({ run, tool }: Pick<ToolCallContext, "run" | "tool">): ReviewGate {
  const gate = run.find(Tokens.ReviewGate);
  if (gate?.canAsk(run) === true) return gate;
  throw noReviewer(tool.name, tool.client === true ? "page" : "person");
}

function questionOf(
  { tool, input, call }: ToolCallContext,
  reason: string | true,
  schema: JsonSchema | undefined,
): ReviewQuestion {
  const hint = editHint(tool, input);
  const { text, ...shown } = shownInput(input, schema);
  return {
    ...shown,
    toolName: tool.name,
    callId: call.id,
    editSchema: schema,
    timing: "DURING_EXECUTION",
    taskDescription:
      ofTool(tool.name, "approvalDescription", () => tool.approvalDescription?.(input)) ??
      `${tool.name} ${text}`,
    taskOutput: "",
    prompt: reason === true || reason.trim() === "" ? hint : `${reason}\n${hint}`,
    key: `approval:${tool.name}:${call.id}`,
  };
}

/** Whether a call has the approved input: the same value, or its value after the tool's schema. */
async function isSame({ tool, input }: ToolCallContext, approved: unknown): Promise<boolean> {
  if (input === approved || canonicalJson(input) === canonicalJson(approved)) return true;
  const checked = await checkToolInput(tool, approved);
  return checked.ok && canonicalJson(input) === canonicalJson(checked.value);
}
