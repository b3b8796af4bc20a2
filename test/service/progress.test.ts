import { expect } from "chai";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { transportOf } from "../../src/plugins/network/shared/transport.js";
import { Agent, Ensemble, Task, tool, type EnsembleOptions } from "../../src/index.js";
import { ScriptedModel } from "../../src/testing.js";
import { asFields } from "../../src/util/objects.js";
import { warningsOf } from "../support/warnings.js";
import { requests } from "./support.js";

const AWAIT = { timeoutMs: 20_000 };
/** Fields with another value in each execution. */
const MEASURED: ReadonlySet<string> = new Set(["durationMs"]);

/** The messages that a caller receives until it has the result of the shared task `meal`. */
async function progressOf(
  meal: Task,
  model: ScriptedModel,
  options: EnsembleOptions = {},
): Promise<readonly object[]> {
  const backend = NetworkBackend.inMemory();
  await using kitchen = new Ensemble({
    ...{ name: "kitchen", model, shareTasks: { meal } },
    ...options,
  });
  await using _service = await kitchen.start({ backend, signals: false });
  const calls = transportOf("kitchen", backend);
  const seen: object[] = [];
  const request = requests()("meal");
  const onProgress = (each: unknown): void => {
    const fields = Object.entries(asFields(each) ?? {});
    seen.push(Object.fromEntries(fields.filter(([name]) => !MEASURED.has(name))));
  };
  const waiting = calls.response(request.requestId, { ...AWAIT, onProgress });
  await calls.send(request);
  await waiting;
  return seen;
}

describe("the progress of a request", () => {
  it("names tasks, agents and tools, without texts of prompts, arguments and results", async () => {
    const search = tool({
      ...{ name: "search", description: "Searches" },
      execute: () => "a secret page",
    });
    const soup = new Task({
      ...{ name: "soup", description: "Cook the secret soup" },
      agent: new Agent({ role: "Cook", goal: "Cook well", tools: [search] }),
    });
    const usage = { inputTokens: 10, outputTokens: 5 };
    const model = new ScriptedModel([
      { toolCalls: [{ name: "search", arguments: { input: "a secret recipe" } }], usage },
      { text: "a secret soup", usage },
    ]);
    const [taskId, agentRole] = ["soup", "Cook"];
    const task = { taskId, agentRole, taskIndex: 1, totalTasks: 1, attempt: 1 };
    expect(await progressOf(soup, model)).to.deep.equal([
      { type: "task_started", ...task },
      { type: "tool_called", taskId, agentRole, toolName: "search", outcome: "SUCCESS" },
      { type: "task_completed", ...task, tokenCount: 30, toolCallCount: 1 },
    ]);
  });

  it("contains short names only, since a message has at most 4 KiB", async () => {
    const agent = new Agent({ role: "Cook ".repeat(1_000), goal: "Cook well" });
    const soup = new Task({ name: "soup", description: "Cook", agent });
    const seen = await progressOf(soup, new ScriptedModel([{ text: "soup" }]));
    expect(seen.map((each) => JSON.stringify(each).length < 1_000)).to.deep.equal([true, true]);
  });

  it("passes the warnings of the run to the process, if there is no other listener", async () => {
    const onTaskStart = (): void => {
      throw new Error("The salt is low");
    };
    const soup = new Task({ name: "soup", description: "Cook", handler: () => "soup" });
    const warnings = await warningsOf(async () => {
      await progressOf(soup, new ScriptedModel([]), { onTaskStart });
    });
    expect(warnings.join("\n")).to.include("The salt is low");
  });
});
