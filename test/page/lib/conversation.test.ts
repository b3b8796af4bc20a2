import { expect } from "chai";
import { conversationOf } from "../../../page/src/lib/conversation.js";
import type { Conversation, Turn } from "../../../page/src/lib/conversation-types.js";
import { readSavedTrace } from "../../../src/plugins/dashboard/protocol/saved-trace.js";
import { traceToLog } from "../../../src/plugins/dashboard/protocol/trace-to-log.js";
import { logOf, recordedLog } from "../../plugins/dashboard/logs.js";

const kinds = ({ turns }: Conversation): readonly string[] =>
  turns.map((turn) => (turn.kind === "note" ? turn.title : turn.kind));

/** The turns of one kind. */
function turnsOf<K extends Turn["kind"]>(
  { turns }: Conversation,
  kind: K,
): readonly Extract<Turn, { readonly kind: K }>[] {
  return turns.filter((turn): turn is Extract<Turn, { readonly kind: K }> => turn.kind === kind);
}

async function conversationIn(team: string, taskId: string): Promise<Conversation> {
  const log = await recordedLog(team);
  return conversationOf(log.filter((entry) => entry.taskId === taskId));
}

describe("the conversation of a task", () => {
  it("has prompt, answers and tool calls of a run in order, with their figures", async () => {
    const conversation = await conversationIn("sequential", "facts");
    expect(kinds(conversation).slice(0, 3)).to.deep.equal(["prompt", "model", "tool"]);
    expect(kinds(conversation).at(-1)).to.equal("Completed");
    const [first] = turnsOf(conversation, "model");
    expect(first).to.include({ call: 1, toolCalls: 1, inputTokens: 100, outputTokens: 20 });
    expect(first).to.include({ model: "scripted:scripted", cachedTokens: 40, currency: "USD" });
    expect(turnsOf(conversation, "tool")[0]).to.include({ name: "look_up", outcome: "SUCCESS" });
    expect(conversation.output?.value).to.deep.equal({ facts: ["a", "b"] });
  });

  it("shows a delegation once, and omits its tool call", async () => {
    const conversation = await conversationIn("delegation", "way");
    expect(turnsOf(conversation, "tool")).to.deep.equal([]);
    const [delegation] = turnsOf(conversation, "delegation");
    expect(delegation).to.include({
      role: "Clerk",
      text: "Which room?",
      workerTaskId: "way.1",
      isHandoff: false,
      state: "done",
      result: "Room 12.",
    });
  });

  it("labels a handoff as a handoff, live and from a trace", () => {
    const fields = { delegationId: "d", workerRole: "Billing", request: { mode: "handoff" } };
    const log = logOf(["delegation_started", fields], ["delegation_completed", fields]);
    expect(turnsOf(conversationOf(log), "delegation")[0]).to.include({
      isHandoff: true,
      state: "done",
    });
    const trace = readSavedTrace({
      schemaVersion: "1.3",
      taskTraces: [
        {
          taskId: "t",
          delegations: [{ delegatorRole: "Front", workerRole: "Billing", mode: "handoff" }],
        },
      ],
    });
    const [saved] = turnsOf(conversationOf(traceToLog(trace)), "delegation");
    expect(saved).to.include({ isHandoff: true, role: "Billing" });
  });

  it("shows each image and file as one line", () => {
    const parts = [
      { type: "file", mediaType: "application/pdf", bytes: 1_250_000, name: "paper.pdf" },
      { type: "image", mediaType: "image/png", bytes: 12 },
    ];
    const call = { callId: "c", iteration: 0, toolName: "scan", toolResult: "scanned" };
    const conversation = conversationOf(
      logOf(["task_input", { userPrompt: "Read", parts }], ["tool_called", { ...call, parts }]),
    );
    const lines = "[file: application/pdf, 1.3 MB, paper.pdf]\n[image: image/png, 12 B]";
    expect(turnsOf(conversation, "prompt")[0]?.text).to.equal(`Read\n${lines}`);
    expect(turnsOf(conversation, "tool")[0]?.result).to.equal(`scanned\n${lines}`);
  });

  it("shows unfinished calls as unfinished", () => {
    const conversation = conversationOf(
      logOf(
        ["tool_started", { callId: "c", iteration: 0, toolName: "search", toolArguments: "{}" }],
        ["delegation_started", { delegationId: "d", workerRole: "Clerk", taskDescription: "Ask" }],
        ["review_requested", { reviewId: "r", prompt: "May it?", requiredRole: "lead" }],
      ),
    );
    expect(turnsOf(conversation, "tool")[0]).to.include({ outcome: undefined, result: undefined });
    expect(turnsOf(conversation, "delegation")[0]?.state).to.equal("running");
    expect(turnsOf(conversation, "review")[0]).to.include({
      decision: undefined,
      question: "May it?",
    });
  });

  it("distinguishes tool calls with the same id in different answers", () => {
    const call = (iteration: number): object => ({ callId: "c", iteration, toolName: "search" });
    const conversation = conversationOf(
      logOf(
        ["tool_started", call(0)],
        ["tool_called", { ...call(0), toolResult: "one", toolOutcome: "SUCCESS" }],
        ["tool_started", call(1)],
        ["tool_called", { ...call(1), toolResult: "two", toolOutcome: "TIMED_OUT" }],
      ),
    );
    expect(
      turnsOf(conversation, "tool").map(({ result, outcome }) => [result, outcome]),
    ).to.deep.equal([
      ["one", "SUCCESS"],
      ["two", "TIMED_OUT"],
    ]);
  });

  it("shows failed calls, and answers that equal the previous one", () => {
    const usage = { provider: "p", modelId: "m", purpose: "task", inputTokens: 1, outputTokens: 1 };
    const answer = (iteration: number): readonly [string, object][] => [
      ["usage_recorded", { ...usage, iteration, outcome: "ok" }],
      ["llm_iteration_completed", { iteration, responseText: "The same." }],
    ];
    const conversation = conversationOf(
      logOf(
        ["task_input", { systemPrompt: "", userPrompt: "## Task\nWrite." }],
        ["usage_recorded", { ...usage, outcome: "failed", errorCode: "AE_MODEL", error: "Busy" }],
        ...answer(0),
        ["output_corrected", { correction: 1, of: 3, errors: ["a: missing", "b: missing"] }],
        ...answer(1),
      ),
    );
    const calls = turnsOf(conversation, "model");
    expect(calls.map(({ call, isRepeated }) => [call, isRepeated])).to.deep.equal([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(calls[0]?.error).to.deep.equal({ code: "AE_MODEL", message: "Busy" });
    expect(turnsOf(conversation, "note")[0]).to.include({
      title: "Does not fit the schema",
      text: "a: missing\nb: missing",
      end: "correction 1 of 3",
    });
  });

  it("shows unknown usage as unknown, and omits unknown entries", () => {
    const conversation = conversationOf(
      logOf(["llm_iteration_completed", { iteration: 0, responseText: "x" }], ["from_the_future"]),
    );
    expect(kinds(conversation)).to.deep.equal(["model"]);
    expect(turnsOf(conversation, "model")[0]).to.include({ inputTokens: -1, cost: undefined });
  });
});
