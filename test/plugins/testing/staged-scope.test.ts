import { expect } from "chai";
import type { AnyTool } from "../../../src/contracts/tool.js";
import { ToolExecutionError } from "../../../src/contracts/errors.js";
import { ToolResult } from "../../../src/contracts/tool-result.js";
import { ScriptedModel } from "../../../src/plugins/testing/scripted-model.js";
import { StagedScope } from "../../../src/plugins/testing/staged-scope.js";
import { rejectionOf } from "../../support/rejection.js";

describe("a scope without a run", () => {
  const scope = (): StagedScope => new StagedScope("run-1", new ScriptedModel(["yes"]));
  const called = (text: string, fields: object): Promise<ToolResult> => {
    const tool = {
      name: "look",
      execute: (input: unknown) => input,
      ...fields,
    } as unknown as AnyTool;
    return scope().callTool({ id: "c", name: "look", arguments: text }, [tool]);
  };

  it("calls a tool with the input that its schema returned", async () => {
    const schema = { type: "object" } as const;
    expect(await called("text", {})).to.include({ ok: true, output: "text" });
    expect(await called('{"input":"a"}', {})).to.include({ output: "a" });
    expect(await called('{"input":1}', {})).to.include({ output: "1" });
    expect(await called("[1]", {})).to.include({ output: "[1]" });
    expect((await called('{"a":1}', { input: schema })).structured).to.deep.equal({ a: 1 });
    const refused = await called("{", { input: schema });
    expect(refused.ok).to.equal(false);
    expect(refused.errorMessage).to.contain("Invalid input for tool 'look':");
  });

  it("uses the return value of a tool as its result", async () => {
    const result = ToolResult.failure("no");
    expect(await called("a", { execute: () => result })).to.equal(result);
    expect(await called("a", { execute: () => undefined })).to.include({ ok: true, output: "" });
    const failing = (): never => {
      throw new Error("broken");
    };
    const error = await rejectionOf(ToolExecutionError, called("a", { execute: failing }));
    expect(error.message).to.equal("Tool 'look' failed: broken");
    const unknown = await scope().callTool({ id: "c", name: "other", arguments: "" }, []);
    expect(unknown.errorMessage).to.equal("Unknown tool 'other'");
  });

  it("ends a call with the reason of its abort", async () => {
    const aborted = scope();
    const reason = new Error("stop");
    const execute = (): never => {
      aborted.abort(reason);
      throw reason;
    };
    const call = { id: "c", name: "look", arguments: "a" };
    expect(
      await rejectionOf(Error, aborted.callTool(call, [{ name: "look", execute } as never])),
    ).to.equal(reason);
    expect(await rejectionOf(Error, aborted.callTool(call, []))).to.equal(reason);
  });

  it("has no other tasks, agents and memory", async () => {
    const one = scope();
    expect((await rejectionOf(Error, one.runTask())).message).to.contain("no other tasks");
    expect(() => one.define()).to.throw("A staged scope has no other tasks");
    expect((await rejectionOf(Error, one.delegate())).message).to.contain("no other agents");
    const written = one.writeMemory("s", {} as never);
    expect((await rejectionOf(Error, written)).message).to.contain("no memory");
    expect([one.listens(), one.all(), one.format(1, "t")]).to.deep.equal([false, [], "t"]);
  });
});
