import type { ChatModel } from "agentensemble";
import { Agent, Ensemble, RunTimeoutError, Task } from "agentensemble";
import { recordingListener, ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";

/** Never answers and ignores its signal. */
const deaf: ChatModel = {
  provider: "test",
  modelId: "deaf",
  chat: () => new Promise(() => undefined),
};

describe("a worker whose model ignores the end of the run", () => {
  for (const workflow of ["HIERARCHICAL", "SEQUENTIAL"] as const) {
    it(`is reported before the task that waits for it: ${workflow}`, async () => {
      const listener = recordingListener();
      const worker = new Agent({ role: "worker", goal: "Work", model: deaf });
      const toolName = workflow === "HIERARCHICAL" ? "delegateTask" : "delegate";
      const model = new ScriptedModel([
        {
          toolCalls: [
            { name: toolName, arguments: { agentRole: "worker", taskDescription: "Work" } },
          ],
        },
      ]);
      const boss = new Agent({ role: "boss", goal: "Lead", allowDelegation: true });
      const tasks =
        workflow === "HIERARCHICAL"
          ? [Task.of("Lead")]
          : [new Task({ description: "Lead", agent: boss })];
      const ensemble = new Ensemble({
        model,
        agents: [worker],
        tasks,
        workflow,
        listeners: [listener],
      });
      const error: unknown = await ensemble.run({}, { timeoutMs: 40 }).catch((e: unknown) => e);
      expect(RunTimeoutError.isInstance(error)).to.equal(true);
      const ends = listener.events
        .filter(({ type }) => type === "task_failed" || type === "delegation_failed")
        .map(({ type }) => type);
      expect(ends).to.deep.equal(["task_failed", "delegation_failed", "task_failed"]);
      expect(listener.of("task_started")).to.have.lengthOf(2);
    });
  }
});
