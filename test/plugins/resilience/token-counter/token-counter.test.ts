import { Ensemble, Task, Tokens, definePlugin } from "agentensemble";
import { expect } from "chai";
import { EstimatingTokenCounter } from "../../../../src/plugins/resilience/token-counter/estimating-token-counter.js";
import { RequestTokens } from "../../../../src/plugins/resilience/shared/request-tokens.js";
import { failure } from "../../../support/kernel-fixtures.js";
import { rejection } from "../../../support/rejection.js";

describe("the default token counter", () => {
  it("loads its estimator at the first use, and answers synchronously afterwards", async () => {
    const counter = new EstimatingTokenCounter();
    expect(counter.count("one two three")).to.be.instanceOf(Promise);
    expect(await counter.count("one two three")).to.equal(3);
    expect(counter.count("one two three")).to.equal(3);
  });

  it("samples all regions of long texts without blocking the event loop", async () => {
    const counter = new EstimatingTokenCounter();
    const prose = "The barn owl hunts at night over open fields. ";
    const part = await counter.count(prose.repeat(500));
    const whole = await counter.count(prose.repeat(50_000));
    expect(whole / part).to.be.closeTo(100, 3);
    expect(
      await counter.count(`${prose.repeat(20_000)}${"x1-".repeat(300_000)}`),
    ).to.be.greaterThan(whole / 2);
  });

  it("can be replaced by another one, which explain() also uses", async () => {
    const mine = definePlugin({
      name: "mine",
      bind: (bind) => void bind.single(Tokens.TokenCounter).toConstantValue({ count: () => 4_711 }),
    });
    await using ensemble = new Ensemble({
      model: "offline:extractive",
      tasks: [Task.of("Say")],
      plugins: [mine],
    });
    expect((await ensemble.explain()).estimatedInputTokens).to.equal(4_711);
  });
});

describe("the tokens of a request", () => {
  it("count each message once, however often it is sent", async () => {
    const counted: string[] = [];
    const counter = { count: (text: string) => (counted.push(text), 1) };
    const tokens = new RequestTokens();
    const messages = [{ role: "user" as const, content: "one" }];
    expect(await tokens.of({ messages }, counter)).to.equal(5);
    messages.push({ role: "user", content: "two" });
    expect(await tokens.of({ messages }, counter)).to.equal(10);
    expect(counted).to.deep.equal(["one", "two"]);
  });

  it("include pictures, tool calls, tools and the schema", async () => {
    const counter = { count: async (text: string) => text.length };
    const of = async (request: Parameters<RequestTokens["of"]>[0]): Promise<number> =>
      new RequestTokens().of(request, counter);
    expect(
      await of({
        messages: [{ role: "user", content: [{ type: "image", data: "A".repeat(9_999) }] }],
      }),
    ).to.equal(1_604);
    expect(
      await of({
        messages: [
          {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "1", name: "look", arguments: "{}" }],
          },
        ],
      }),
    ).to.equal(12);
    const bare = { messages: [] };
    expect(
      await of({ ...bare, tools: [{ name: "look", description: "d", parameters: {} }] }),
    ).to.be.greaterThan(20);
    expect(
      await of({ ...bare, responseFormat: { name: "x", schema: { type: "object" } } }),
    ).to.be.greaterThan(20);
  });

  it("are refused if a counter returns no count", async () => {
    for (const wrong of [NaN, -1, "5", undefined]) {
      const counter = { count: () => wrong as number };
      const work = Promise.resolve().then(() =>
        new RequestTokens().of({ messages: [{ role: "user", content: "x" }] }, counter),
      );
      expect(await failure(work), String(wrong)).to.have.property("code", "AE_VALIDATION");
    }
    const throwing = { count: () => Promise.reject(new Error("no")) };
    expect(
      await rejection(
        Promise.resolve(
          new RequestTokens().of({ messages: [{ role: "user", content: "x" }] }, throwing),
        ),
      ),
    ).to.have.property("message", "no");
  });
});
