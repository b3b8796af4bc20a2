import type { AnyTool, Tool, ToolContext } from "../../../../src/contracts/tool.js";
import { ReviewDecision } from "../../../../src/contracts/review.js";
import { ToolResult } from "../../../../src/contracts/tool-result.js";
import { fakeScope } from "../../../support/fake-scope.js";

/** Calls a tool directly, like the gateway. */
export async function callTool<I>(
  tool: Tool<I>,
  input: I,
  signal: AbortSignal = new AbortController().signal,
  idempotencyKey = "run-1/task-1@1/call-1",
): Promise<ToolResult> {
  const scope = fakeScope();
  const context: ToolContext = {
    scope,
    signal,
    run: scope.run,
    runId: "run-1",
    taskId: "task-1",
    agentRole: "Tester",
    toolCallId: "call-1",
    idempotencyKey,
    requestApproval: async () => ReviewDecision.continue(),
  };
  const returned = await (tool as AnyTool).execute(input, context); // only handed on
  if (!ToolResult.isInstance(returned)) throw new Error("the built-in tools give results");
  return returned;
}
