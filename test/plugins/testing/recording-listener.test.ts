import { expect } from "chai";
import { CALLBACK_EVENTS, type EnsembleListener, type Ev } from "../../../src/contracts/events.js";
import { recordingListener } from "../../../src/plugins/testing/index.js";

function stamp<T extends string>(type: T, seq: number): { readonly type: T; readonly v: 1; readonly seq: number; readonly runId: string; readonly at: string } {
  return { type, v: 1, seq, runId: "run-1", at: "2026-11-21T10:00:00.000Z" };
}

const started: Ev<"ensemble_started"> = { ...stamp("ensemble_started", 0), workflow: "SEQUENTIAL", totalTasks: 1, startedAt: "2026-11-21T10:00:00.000Z" };
const token: Ev<"token"> = { ...stamp("token", 1), taskId: "task-1", agentRole: "Writer", taskDescription: "Write", token: "Hi" };

describe("recordingListener()", () => {
  it("has a callback for every event that can be listened to", () => {
    const listener: EnsembleListener = recordingListener();
    for (const name of Object.keys(CALLBACK_EVENTS)) expect(listener).to.have.property(name).that.is.a("function");
  });

  it("keeps events in order and finds them by type", () => {
    const listener = recordingListener();
    listener.onEnsembleStarted?.(started);
    listener.onToken?.(token);
    expect(listener.events).to.deep.equal([started, token]);
    expect(listener.types()).to.deep.equal(["ensemble_started", "token"]);
    expect(listener.of("token")[0]?.token).to.equal("Hi");
    expect(listener.of("task_failed")).to.deep.equal([]);
  });

  it("shares nothing with other listeners", () => {
    const first = recordingListener();
    first.onToken?.(token);
    expect(recordingListener().events).to.deep.equal([]);
  });
});
