import type { ToolCallContext } from "../../../contracts/hooks.js";
import type { KeptEntry } from "../../../contracts/journal.js";
import type { RunJournal } from "./run-journal.js";
import { ExitEarlySignal } from "../../../contracts/errors.js";
import { ToolInDoubtError } from "../../../contracts/journal-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview } from "../../../contracts/validation.js";

/**
 * Settles a call that an earlier execution started and that has no result. A reviewer decides, or
 * the run ends. Returns the result that the reviewer entered, or `undefined` if the tool may be
 * called again.
 * @throws ToolInDoubtError, which ends the run; ExitEarlySignal if the reviewer ends the run.
 */
export async function doubtfulResult(
  journal: RunJournal,
  call: ToolCallContext,
  doubt: { readonly resume: "ask" | "fail"; readonly entry: KeptEntry },
): Promise<ToolResult | undefined> {
  const { run, taskId, agentRole, tool, idempotencyKey: key } = call;
  run.emit({ type: "call_in_doubt", taskId, agentRole, key, toolName: tool.name });
  const gate = run.find(Tokens.ReviewGate);
  if (doubt.resume === "fail" || gate?.canAsk(run) !== true)
    throw journal.fail(new ToolInDoubtError(tool.name, key));
  const decision = await gate.ask(
    {
      timing: "DURING_EXECUTION",
      taskDescription: `Was '${tool.name}' executed? ${preview(call.call.arguments)}`,
      taskOutput: "",
      toolName: tool.name,
      callId: call.call.id,
      prompt: `The process ended while tool '${tool.name}' was executed (${key}). Continue: call it again. Edit: the text is its result. Exit: end the run.`,
      timeoutMs: 0,
      onTimeout: "FAIL",
      key: doubtKey(key, doubt.entry),
    },
    call,
  );
  if (decision.type === "CONTINUE") return undefined;
  if (decision.type === "EDIT") return ToolResult.success(decision.revisedOutput ?? "");
  throw new ExitEarlySignal(
    `The run was ended because it is unknown whether tool '${tool.name}' was executed`,
    { timedOut: decision.timedOut === true },
  );
}

/** Returns the key of the review. A call that is in doubt again has a new key. */
function doubtKey(key: string, { execution }: KeptEntry): string {
  return execution === 1 ? `doubt:${key}` : `doubt:${key}~${execution}`;
}
