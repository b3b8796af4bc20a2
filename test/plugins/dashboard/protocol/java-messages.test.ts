import { expect } from "chai";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import { RunLog } from "../../../../src/plugins/dashboard/feed/run-log.js";
import {
  javaHello,
  JavaIterations,
  javaMessage,
  javaToken,
  type JavaMessage,
} from "../../../../src/plugins/dashboard/protocol/java-messages.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import { eventsOf } from "../../observability/trace/teams.js";
import { entry } from "../logs.js";

/**
 * The messages to a viewer that receives a run from its start. Messages of model calls are not
 * entries.
 */
async function toldOf(team: string): Promise<readonly JavaMessage[]> {
  const log = newLog();
  const messages = (await eventsOf(team)).map((event: EnsembleEvent) => {
    if (event.type === "llm_iteration_started") return javaMessage(log.passed(event));
    log.append(event);
    return javaMessage(log.entry(log.n, "full"));
  });
  return messages.flatMap((message) => message ?? []);
}

function newLog(): RunLog {
  const redactor = createRedactor({ environment: {} });
  return new RunLog("run-1", { redactor, contents: true, maxEntries: 1_000, longestPhrase: 0 });
}

/** A message in short form: its type and its subject. */
function inShort(message: JavaMessage): string {
  const about = message["toolName"] ?? message["workerRole"] ?? message["taskDescription"];
  const [line = ""] = typeof about === "string" ? about.split("\n") : [];
  return [message.type, ...(line === "" ? [] : [line])].join(": ");
}

const CALL = ["task_input", "llm_iteration_started", "llm_iteration_completed"];
const agentTask = (description: string): readonly string[] =>
  ["task_started", ...CALL, "task_completed"].map((type) => `${type}: ${description}`);
const handlerTask = (description: string): readonly string[] =>
  ["task_started", "task_completed"].map((type) => `${type}: ${description}`);
const run = (...inner: readonly string[]): readonly string[] => [
  "ensemble_started",
  ...inner,
  "ensemble_completed",
];
const MANAGER = "You must coordinate your team to complete the following tasks:";
const managerCall = CALL.slice(1).map((type) => `${type}: ${MANAGER}`);

/** One run of each workflow whose tasks follow each other. */
const GOLDEN: Readonly<Record<string, readonly string[]>> = {
  hierarchical: run(
    `task_started: ${MANAGER}`,
    `task_input: ${MANAGER}`,
    ...managerCall,
    "delegation_started: Researcher",
    "delegation_completed: Researcher",
    "tool_called: delegateTask",
    ...managerCall,
    "delegation_failed: Nobody",
    "tool_called: delegateTask",
    ...managerCall,
    `task_completed: ${MANAGER}`,
  ),
  delegation: run(
    ...agentTask("Show the way").slice(0, 4),
    "delegation_started: Clerk",
    "delegation_completed: Clerk",
    "tool_called: delegate",
    ...agentTask("Show the way").slice(2),
  ),
  loop: run(
    ...agentTask("Write a draft"),
    ...handlerTask("Score it"),
    ...agentTask("Write a draft"),
    ...handlerTask("Score it"),
  ),
  graph: run(...agentTask("Ask"), ...agentTask("Answer")),
  failed: run(...agentTask("Works"), "task_started: Breaks", "task_failed: Breaks"),
  cancelled: run(...handlerTask("Begin"), "task_started: Wait", "task_failed: Wait"),
};

/** For runs with concurrent tasks, whose order may change. */
const SIDE_BY_SIDE: Readonly<Record<string, readonly string[]>> = {
  sequential: run(
    ...agentTask("Collect facts about swifts"),
    ...CALL.slice(1).map((type) => `${type}: Collect facts about swifts`),
    "tool_called: look_up",
    ...handlerTask("Count the facts"),
    ...agentTask("Write the text"),
  ),
  parallel: run(
    ...["Find the source", "Take the left half", "Take the right half", "Join"].flatMap(agentTask),
  ),
  phases: run(...handlerTask("Dig"), ...agentTask("Write the memo"), ...agentTask("Judge it")),
  "map-reduce": run(
    ...["Read 1", "Read 2", "Read 3", "Merge", "Merge", "Merge"].flatMap(agentTask),
  ),
};

/** The fields that the viewer's protocol names; those with `?` may be missing. */
const TABLE: Readonly<Record<string, string>> = {
  ensemble_started: "ensembleId startedAt totalTasks workflow",
  ensemble_completed: "ensembleId completedAt durationMs exitReason totalTokens totalToolCalls",
  task_started: "taskIndex totalTasks taskDescription agentRole startedAt",
  task_input:
    "taskIndex taskDescription expectedOutput agentRole agentGoal agentBackground? toolNames assembledContext sentAt",
  task_completed:
    "taskIndex totalTasks taskDescription agentRole startedAt completedAt durationMs tokenCount toolCallCount",
  task_failed: "taskIndex taskDescription agentRole failedAt reason",
  tool_called:
    "agentRole taskIndex toolName durationMs outcome toolArguments toolResult structuredResult?",
  delegation_started: "delegationId delegatingAgentRole workerRole taskDescription",
  delegation_completed: "delegationId delegatingAgentRole workerRole taskDescription durationMs",
  delegation_failed: "delegationId delegatingAgentRole workerRole taskDescription reason",
  llm_iteration_started: "agentRole taskDescription iterationIndex messages totalMessageCount",
  llm_iteration_completed:
    "agentRole taskDescription iterationIndex responseType responseText toolRequests inputTokens outputTokens latencyMs",
};

describe("messages for the viewer of the Java version", () => {
  for (const [team, messages] of Object.entries(GOLDEN))
    it(`report the run '${team}' in order`, async () => {
      expect((await toldOf(team)).map(inShort)).to.deep.equal(messages);
    });

  for (const [team, messages] of Object.entries(SIDE_BY_SIDE))
    it(`report all entries of the run '${team}'`, async () => {
      expect((await toldOf(team)).map(inShort).sort()).to.deep.equal([...messages].sort());
    });

  it("have the fields of the viewer's protocol, and no others", async () => {
    const teams = [...Object.keys(GOLDEN), ...Object.keys(SIDE_BY_SIDE)];
    const seen = new Set<string>();
    for (const message of (await Promise.all(teams.map(toldOf))).flat()) {
      const { type, ...rest } = message;
      seen.add(type);
      const names = (TABLE[type] ?? "").split(" ");
      expect(names.map((name) => name.replace("?", ""))).to.include.members(Object.keys(rest));
      const needed = names.filter((name) => !name.endsWith("?"));
      expect(Object.keys(rest), type).to.include.members(needed);
    }
    expect([...seen].sort()).to.deep.equal(Object.keys(TABLE).sort());
  });

  it("cut the context of a task at 8,000 characters and conversations at 20 messages", () => {
    const input = javaMessage(
      entry(0, "task_input", { taskId: "a", assembledContext: "x".repeat(9_000) }),
    );
    expect(input?.["assembledContext"]).to.equal(`${"x".repeat(8_000)}... [truncated]`);
    const messages = Array.from({ length: 25 }, (_, i) => ({ role: "user", content: `${i}` }));
    const call = javaMessage(entry(0, "llm_iteration_started", { taskId: "a", messages }));
    expect(call?.["messages"]).to.deep.equal(messages.slice(5));
  });

  it("contain the content of messages as text, and tool calls without their ids", () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", data: "x" },
        ],
      },
      { role: "assistant", content: "", toolCalls: [{ id: "1", name: "t", arguments: "{}" }] },
      { role: "tool", toolCallId: "1", toolName: "t", content: "ok", isError: false },
    ];
    const call = javaMessage(entry(0, "llm_iteration_started", { messages }));
    expect(call?.["messages"]).to.deep.equal([
      { role: "user", content: "Look\n[image]" },
      { role: "assistant", content: "", toolCalls: [{ name: "t", arguments: "{}" }] },
      { role: "tool", content: "ok", toolName: "t" },
    ]);
  });

  it("request a review, and close its dialog after any answer", () => {
    const asked = {
      reviewId: "q",
      taskDescription: "d",
      taskOutput: "",
      timing: "AFTER_EXECUTION",
    };
    const more = { timeoutMs: 0, onTimeout: "FAIL", runId: "r", taskId: "a", parentTaskId: "p" };
    expect(javaMessage(entry(0, "review_requested", { ...asked, ...more }))).to.deep.equal({
      type: "review_requested",
      ...asked,
      timeoutMs: 0,
      onTimeout: "FAIL",
    });
    const actions = ["CONTINUE", "EDIT", "EXIT_EARLY", "FAIL"].map((decision) =>
      javaMessage(entry(1, "review_resolved", { reviewId: "q", decision, by: "ana" })),
    );
    expect(actions).to.deep.equal(
      ["CONTINUE", "CONTINUE", "EXIT_EARLY", "FAIL"].map((action) => ({
        type: "review_timed_out",
        reviewId: "q",
        action,
      })),
    );
  });

  it("send a late viewer the run so far and its last model calls", async () => {
    const messages = await toldOf("loop");
    const log = newLog();
    for (const event of await eventsOf("loop"))
      if (event.type !== "llm_iteration_started") log.append(event);
    const iterations = new JavaIterations();
    for (const message of messages) iterations.add(message);
    const entries = Array.from({ length: log.n + 1 }, (_, n) => log.entry(n, "full"));
    const hello = javaHello(entries, iterations);
    expect(hello["snapshotTrace"]).to.have.lengthOf(
      messages.filter(({ type }) => !type.startsWith("llm_")).length,
    );
    const [start] = messages;
    expect(hello).to.include({ type: "hello", ensembleId: start?.["ensembleId"] });
    expect(iterations.recent.map(({ completed }) => completed?.["responseText"])).to.deep.equal([
      "x",
      "xx",
    ]);
    expect(javaHello(undefined, new JavaIterations())).to.deep.equal({ type: "hello" });
  });

  it("keep the last five model calls of each task, of the newest run alone", () => {
    const iterations = new JavaIterations();
    const at = { agentRole: "Writer", taskDescription: "Write" };
    for (let iterationIndex = 0; iterationIndex < 7; iterationIndex++)
      iterations.add({ type: "llm_iteration_started", ...at, iterationIndex });
    iterations.add({ type: "llm_iteration_started", ...at, agentRole: "Other", iterationIndex: 0 });
    expect(iterations.recent.map(({ started }) => started["iterationIndex"])).to.deep.equal([
      2, 3, 4, 5, 6, 0,
    ]);
    iterations.add({ type: "ensemble_started" });
    expect(iterations.recent).to.deep.equal([]);
  });

  it("contain pieces of answers with the task that writes them", () => {
    const log = newLog();
    const started = entry(1, "task_started", { taskId: "a", agentRole: "Writer" });
    log.append(entry(0, "ensemble_started") as unknown as EnsembleEvent); // by its type
    log.append({ ...started, taskDescription: "Write" } as unknown as EnsembleEvent);
    log.addToken("a", "Two words ");
    const piece = log.answerAfter("a", undefined, "now");
    const task = log.named("a");
    expect(piece && task && javaToken(piece.entry, task)).to.deep.equal({
      type: "token",
      token: "Two words ",
      agentRole: "Writer",
      taskDescription: "Write",
      sentAt: "now",
    });
    expect(log.named("unknown")).to.equal(undefined);
  });
});
