import {
  AgentEnsembleError,
  HookRejectedError,
  JournalMismatchError,
  ModelCallError,
  PluginError,
  RecordingMismatchError,
  TaskExecutionError,
  ValidationError,
} from "agentensemble";
import { expect } from "chai";

import { nearestName, preview } from "../../src/contracts/validation.js";
import { messageOf, toError } from "../../src/util/errors.js";

const model = (attempts = 1): ModelCallError =>
  new ModelCallError("busy", { provider: "p", modelId: "m", attempts });

describe("the errors of the framework", () => {
  it("have a stable code, a name, a cause and a hint", () => {
    const cause = new Error("why");
    const error = new ValidationError("no", { cause, hint: "say yes" });
    expect(error).to.include({
      code: "AE_VALIDATION",
      name: "ValidationError",
      message: "no",
      hint: "say yes",
      cause,
    });
    expect(error).to.be.instanceOf(AgentEnsembleError).and.instanceOf(Error);
    expect("cause" in new ValidationError("no")).to.equal(false);
  });

  it("distinguish a mismatch with a recording from a mismatch with a journal", () => {
    const ofReplay = new RecordingMismatchError("x");
    const ofResume = new JournalMismatchError("x");
    expect(ofReplay.code).to.equal("AE_RECORDING_MISMATCH");
    expect(ofResume.code).to.equal("AE_JOURNAL_MISMATCH");
    expect(JournalMismatchError.isInstance(ofReplay)).to.equal(false);
    expect(RecordingMismatchError.isInstance(ofResume)).to.equal(false);
  });

  it("are recognised by class and by subclass, also from another copy of the package", () => {
    class Base extends Error {
      get [Symbol.for("agentensemble/error")](): true {
        return true;
      }
    }
    const AgentEnsembleErrorCopy = Object.defineProperty(class extends Base {}, "name", {
      value: "AgentEnsembleError",
    });
    const ModelCallErrorCopy = Object.defineProperty(
      class extends AgentEnsembleErrorCopy {},
      "name",
      { value: "ModelCallError" },
    );
    for (const error of [model(), new ModelCallErrorCopy("x")]) {
      expect(ModelCallError.isInstance(error)).to.equal(true);
      expect(AgentEnsembleError.isInstance(error)).to.equal(true);
      expect(ValidationError.isInstance(error)).to.equal(false);
    }
    for (const other of [
      undefined,
      null,
      "x",
      new Error("x"),
      Object.assign(new Error("x"), { name: "ModelCallError" }),
    ])
      expect(ModelCallError.isInstance(other)).to.equal(false);
  });

  it("are found along the causes, also in a cycle", () => {
    const inner = model();
    const outer = new TaskExecutionError(
      "x",
      { taskDescription: "d", agentRole: "r", completedTaskOutputs: [] },
      { cause: new Error("between", { cause: inner }) },
    );
    expect(ModelCallError.find(outer)).to.equal(inner);
    expect(TaskExecutionError.find(outer)).to.equal(outer);
    expect(PluginError.find(outer)).to.equal(undefined);
    const circle: { cause?: unknown } & Error = new Error("circle");
    circle.cause = circle;
    expect(ModelCallError.find(circle)).to.equal(undefined);
  });

  it("name the subject and the reason", () => {
    expect(new HookRejectedError("too late", { hook: "beforeTask", tap: "clock" })).to.include({
      code: "AE_HOOK_REJECTED",
      reason: "too late",
    });
    expect(new PluginError("x", { plugin: "p", hook: "start" })).to.include({
      code: "AE_PLUGIN",
      plugin: "p",
      hook: "start",
    });
    expect(model(3)).to.include({ code: "AE_MODEL_CALL", attempts: 3, retryable: false });
  });
});

describe("messages and hints of errors", () => {
  it("contain no terminal codes, for any quoted text", () => {
    const error = new ValidationError("Unknown \u001b[2Jtask\n\t'\u009b31mx\u202e'", {
      hint: "Known: \u001b]0;title\u0007a",
    });
    expect(error.message).to.equal("Unknown task\n\t'x'");
    expect(error.hint).to.equal("Known: a");
    expect(error.stack).to.not.include("\u001b");
  });
});

describe("helpers of messages", () => {
  it("show a value of any type, cut at 200 characters", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect([
      preview("x"),
      preview({ a: 1 }),
      preview(undefined),
      preview(1n),
      preview(NaN),
      preview(Infinity),
      preview(circle),
    ]).to.deep.equal([
      "x",
      '{"a":1}',
      "undefined",
      "[object BigInt]",
      "NaN",
      "Infinity",
      "[object Object]",
    ]);
    expect(preview("x".repeat(300))).to.equal(`${"x".repeat(200)}...`);
  });

  it("find the nearest name, or none", () => {
    expect(nearestName("SEQENTIAL", ["SEQUENTIAL", "PARALLEL"])).to.equal("SEQUENTIAL");
    expect(nearestName("tols", ["tools", "role"])).to.equal("tools");
    expect(nearestName("completely different", ["tools"])).to.equal(undefined);
  });

  it("create a message and an error from any thrown value", () => {
    expect([
      messageOf(new Error("")),
      messageOf("text"),
      messageOf(5),
      messageOf(new TypeError("x")),
      messageOf(""),
    ]).to.deep.equal(["Error", "text", "5", "x", "unknown error"]);
    expect(toError("text")).to.be.instanceOf(Error).and.include({ message: "text", cause: "text" });
  });
});
