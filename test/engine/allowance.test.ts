import { Agent, Task, replace } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, tapping } from "../support/kernel-fixtures.js";

const agent = new Agent({ role: "r", goal: "g" });

/**
 * The request to the model, and the request that taps received, if a tap allows `allowed` tokens.
 */
async function limits(own: number | undefined, allowed: number): Promise<(number | undefined)[]> {
  const model = new ScriptedModel(["done"]);
  const seen: (number | undefined)[] = [];
  const plugin = tapping("allowing", ({ hooks }) => {
    hooks.beforeLlmCall.tap({ name: "allow", lane: "transform" }, () =>
      replace({ allowance: { maxOutputTokens: allowed } }),
    );
    hooks.beforeLlmCall.tap(
      { name: "see" },
      ({ request, allowance }) =>
        void seen.push(request.maxOutputTokens, allowance?.maxOutputTokens),
    );
    hooks.afterLlmCall.tap(
      { name: "see" },
      ({ request, allowance }) =>
        void seen.push(request.maxOutputTokens, allowance?.maxOutputTokens),
    );
  });
  const task = new Task({
    description: "x",
    agent,
    ...(own !== undefined && { modelOptions: { maxOutputTokens: own } }),
  });
  await runToEnd({ model, tasks: [task], plugins: [plugin] });
  expect(seen).to.deep.equal([own, allowed, own, allowed]);
  return model.requests.map(({ maxOutputTokens }) => maxOutputTokens);
}

describe("the allowance of a model call", () => {
  it("becomes the output limit of a request with no limit or a higher one, and keeps the taps' request unchanged", async () => {
    expect(await limits(undefined, 50)).to.deep.equal([50]);
    expect(await limits(80, 50)).to.deep.equal([50]);
    expect(await limits(20, 50)).to.deep.equal([20]);
  });

  it("reaches the after hook when a later tap throws, like every earlier change", async () => {
    const seen: unknown[] = [];
    const plugin = tapping("throwing", ({ hooks }) => {
      hooks.beforeLlmCall.tap({ name: "allow", lane: "transform" }, () =>
        replace({ allowance: { maxOutputTokens: 5 } }),
      );
      hooks.beforeLlmCall.tap({ name: "broken" }, () => {
        throw new Error("broken");
      });
      hooks.afterLlmCall.tap(
        { name: "see" },
        ({ outcome, allowance }) => void seen.push(outcome, allowance?.maxOutputTokens),
      );
    });
    await runToEnd({
      model: new ScriptedModel([]),
      tasks: [new Task({ description: "x", agent })],
      plugins: [plugin],
    });
    expect(seen).to.deep.equal(["failed", 5]);
  });
});
