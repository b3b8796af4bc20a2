import { expect } from "chai";
import type { Ev } from "../../../src/contracts/events.js";
import { recordingListener } from "../../../src/plugins/testing/index.js";

function stamp<T extends string>(
  type: T,
  seq: number,
): {
  readonly type: T;
  readonly v: 1;
  readonly seq: number;
  readonly runId: string;
  readonly at: string;
} {
  return { type, v: 1, seq, runId: "run-1", at: "2026-11-21T10:00:00.000Z" };
}

const warning: Ev<"run_warning"> = { ...stamp("run_warning", 0), message: "careful" };
const token: Ev<"token"> = {
  ...stamp("token", 1),
  taskId: "task-1",
  agentRole: "Writer",
  taskDescription: "Write",
  token: "Hi",
};

describe("recordingListener()", () => {
  it("keeps events in order, also events without a callback, and finds them by type", () => {
    const listener = recordingListener();
    listener.on?.(warning);
    listener.on?.(token);
    expect(listener.events).to.deep.equal([warning, token]);
    expect(listener.types()).to.deep.equal(["run_warning", "token"]);
    expect(listener.of("token")[0]?.token).to.equal("Hi");
    expect(listener.of("task_failed")).to.deep.equal([]);
  });

  it("does not request a stream", () => {
    expect(recordingListener().onToken).to.equal(undefined);
  });

  it("shares no data with other listeners", () => {
    const first = recordingListener();
    first.on?.(token);
    expect(recordingListener().events).to.deep.equal([]);
  });
});
