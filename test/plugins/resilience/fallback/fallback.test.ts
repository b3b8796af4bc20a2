import { expect } from "chai";
import { z } from "zod";
import type {
  ChatModel,
  ChatModelProvider,
  ChatRequest,
} from "../../../../src/contracts/chat-model.js";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import type { TaskExecutor } from "../../../../src/contracts/executors.js";
import type { Plugin } from "../../../../src/contracts/plugin.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { definePlugin } from "../../../../src/contracts/plugin.js";
import { RateLimit } from "../../../../src/contracts/rate-limit.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import { Ensemble, Kernel, Task } from "../../../../src/index.js";
import { fallback } from "../../../../src/plugins/resilience/fallback/index.js";
import { retry } from "../../../../src/plugins/resilience/retry/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { rejection } from "../../../support/rejection.js";
import { failed, withAttempts } from "../llm-calls.js";

const task = Task.of("Say hello");
const fast = retry.bind(undefined, { baseDelayMs: 1, maxDelayMs: 2, maxAttempts: 2 });
const broken = (modelId: string, error: Error = failed("AE_MODEL_SERVER")): ScriptedModel =>
  new ScriptedModel(() => error, { modelId });

async function ledgerOf(model: ChatModel, plugins: readonly Plugin[]): Promise<readonly string[]> {
  await using ensemble = new Ensemble({ model, tasks: [task], plugins });
  const output = await ensemble.run({}, { throwOnError: false });
  return output.metrics.ledger.map(({ modelId, outcome }) => `${modelId} ${outcome}`);
}

describe("fallback", () => {
  it("uses the next model after all attempts of a model, with separate numbers", async () => {
    const last = new ScriptedModel([failed("AE_MODEL_CONNECTION"), "Hello"], { modelId: "c" });
    expect(await ledgerOf(broken("a"), [fast(), fallback([broken("b"), last])])).to.deep.equal([
      "a failed",
      "a failed",
      "b failed",
      "b failed",
      "c failed",
      "c ok",
    ]);
  });

  it("works without a retry policy: models that declare no attempts are called once", async () => {
    const declaring = withAttempts(broken("b", failed("AE_MODEL_SERVER", { retryAfterMs: 1 })), 3);
    const ledger = await ledgerOf(broken("a"), [
      fallback([declaring, new ScriptedModel(["Hello"], { modelId: "c" })]),
    ]);
    expect(ledger).to.deep.equal(["a failed", "b failed", "b failed", "b failed", "c ok"]);
  });

  it("uses the next model immediately if a retry can't help but another model may", async () => {
    for (const error of [
      failed("AE_MODEL_AUTH", { status: 401, retryable: false }),
      failed("AE_MODEL_QUOTA", { status: 429, retryable: false }),
      failed("AE_MODEL_CONTEXT_LENGTH", { status: 400, retryable: false }),
      failed("AE_MODEL_BAD_REQUEST", { status: 404, retryable: false }),
      failed("AE_MODEL_RATE_LIMITED", { status: 429, retryAfterMs: 7_200_000 }),
    ]) {
      const ledger = await ledgerOf(broken("a", error), [
        fast(),
        fallback([new ScriptedModel(["Hello"], { modelId: "b" })]),
      ]);
      expect(ledger, error.code).to.deep.equal(["a failed", "b ok"]);
    }
  });

  it("does not send a bad request to another model", async () => {
    const other = new ScriptedModel(["Hello"]);
    expect(
      await ledgerOf(
        broken("a", failed("AE_MODEL_BAD_REQUEST", { status: 400, retryable: false })),
        [fallback([other])],
      ),
    ).to.deep.equal(["a failed"]);
    expect(other.requests).to.have.length(0);
  });

  it("fails with the last model's error, counting all attempts, and reports each switch immediately", async () => {
    const events: EnsembleEvent[] = [];
    const plugins = [fallback([broken("b"), broken("c", failed("AE_MODEL_QUOTA"))])];
    await using ensemble = new Ensemble({
      model: broken("a"),
      tasks: [task],
      plugins,
      on: (e) => void events.push(e),
    });
    const error = ModelCallError.find(await rejection(ensemble.run()));
    expect([error?.code, error?.attempts]).to.deep.equal(["AE_MODEL_QUOTA", 3]);
    expect(events.flatMap((e) => (e.type === "retry_scheduled" ? [e.delayMs] : []))).to.deep.equal([
      0, 0,
    ]);
  });

  it("begins every call with its own model", async () => {
    const first = broken("a");
    const second = new ScriptedModel(() => "Hello", { modelId: "b" });
    await using ensemble = new Ensemble({
      model: first,
      tasks: [task],
      plugins: [fast(), fallback([second])],
    });
    for (let run = 0; run < 3; run++) await ensemble.run();
    expect([first.requests.length, second.requests.length]).to.deep.equal([6, 3]);
  });

  it("counts the attempts of calls that share one request separately", async () => {
    const model = broken("a");
    const other = broken("b");
    const request: ChatRequest = { messages: [{ role: "user", content: "Vote" }] };
    const ballot: TaskExecutor = {
      name: "ballot",
      handles: () => true,
      execute: async (_call, scope) => {
        const votes = await Promise.allSettled(
          [1, 2, 3].map(() => scope.chat(request, { purpose: "task" })),
        );
        return { raw: votes.map(({ status }) => status).join(), toolCallCount: 0 };
      },
    };
    await using ensemble = new Ensemble({
      model,
      tasks: [task],
      plugins: [fast(), fallback([other])],
    });
    const output = await ensemble.run(
      {},
      { bindings: (bind) => bind.many(Tokens.TaskExecutor).toConstantValue(ballot) },
    );
    expect(output.raw).to.equal("rejected,rejected,rejected");
    expect([model.requests.length, other.requests.length]).to.deep.equal([6, 6]);
  });

  it("continues after the position of a model that is in the list", async () => {
    const [b, c] = [broken("b"), broken("c")];
    expect(await ledgerOf(b, [fallback([broken("a"), b, c])])).to.deep.equal([
      "b failed",
      "c failed",
    ]);
  });

  it("accepts names, from which its providers create models when the kernel starts", async () => {
    const made: string[] = [];
    const provider: ChatModelProvider = {
      name: "acme",
      create: (modelId) => (made.push(modelId), new ScriptedModel(() => "Hello", { modelId })),
    };
    const acme = definePlugin({
      name: "acme",
      bind: (bind) => bind.many(Tokens.ChatModelProvider).toConstantValue(provider),
    });
    expect(await ledgerOf(broken("a"), [fallback(["acme:b"]), acme])).to.deep.equal([
      "a failed",
      "b ok",
    ]);
    expect(made).to.deep.equal(["b"]);
  });

  it("refuses a name without a provider before any cost arises", async () => {
    const model = new ScriptedModel(["Hello"]);
    await using ensemble = new Ensemble({
      model,
      tasks: [task],
      plugins: [fallback(["opneai:gpt-4o"])],
    });
    const error = await rejection(ensemble.run());
    expect(error).to.be.instanceOf(ValidationError);
    expect(String(error)).to.include("fallback model").and.include("Did you mean 'openai'?");
    expect(model.requests).to.have.length(0);
  });

  it("requests no JSON by schema from a model that does not support it", async () => {
    const structured: ChatModel = {
      provider: "test",
      modelId: "a",
      capabilities: { structuredOutput: true },
      chat: () => Promise.reject(failed("AE_MODEL_SERVER")),
    };
    const plain = new ScriptedModel(['{"word":"hello"}']);
    const able = new ScriptedModel(['{"word":"hello"}']);
    const ableToo: ChatModel = {
      provider: "test",
      modelId: "c",
      capabilities: { structuredOutput: true },
      chat: (request) => able.chat(request),
    };
    for (const other of [plain, ableToo]) {
      const asked = new Task({ description: "A word", outputType: z.object({ word: z.string() }) });
      await using ensemble = new Ensemble({
        model: structured,
        tasks: [asked],
        plugins: [fallback([other])],
      });
      expect((await ensemble.run()).taskOutputs[0]?.parsed).to.deep.equal({ word: "hello" });
    }
    expect(plain.requests[0]?.responseFormat).to.equal(undefined);
    expect(able.requests[0]?.responseFormat).to.have.property("schema");
  });

  it("does not apply the pause that one vendor requested to the next model", async () => {
    const first = broken(
      "a",
      failed("AE_MODEL_RATE_LIMITED", { status: 429, retryAfterMs: 7_200_000 }),
    );
    await using ensemble = new Ensemble({
      model: first,
      rateLimit: RateLimit.of(5, 1_000),
      tasks: [task],
      plugins: [fallback([new ScriptedModel(["Hello"])])],
    });
    expect((await ensemble.run()).raw).to.equal("Hello");
  });

  it("refuses anything except a list of different models", () => {
    const model = new ScriptedModel([]);
    expect(() => fallback([])).to.throw(ValidationError, /at least one/);
    expect(() => fallback("openai:gpt-4o" as never)).to.throw(ValidationError, /array/);
    expect(() => fallback(["gpt-4o"])).to.throw(ValidationError, /models\[0\]/);
    expect(() => fallback([model, undefined as never])).to.throw(ValidationError, /models\[1\]/);
    expect(() => fallback([model, "openai:gpt-4o", model])).to.throw(
      ValidationError,
      /models\[2\] is the same as models\[0\]/,
    );
  });

  it("reports a retry policy that makes it ineffective", async () => {
    const own = definePlugin({
      name: "own",
      bind: (bind) => bind.single(Tokens.RetryPolicy).toConstantValue({ next: () => undefined }),
    });
    await using ensemble = new Ensemble({
      model: broken("a"),
      tasks: [task],
      plugins: [own, fallback([broken("b")])],
    });
    expect(String(await rejection(ensemble.run()))).to.match(/^ValidationError: fallback\(\)/);
    expect(
      String(await rejection(new Kernel({ plugins: [fallback([broken("b")])] }).boot())),
    ).to.include("resilience-retry");
  });
});
