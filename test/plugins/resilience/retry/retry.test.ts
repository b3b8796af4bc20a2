import { expect } from "chai";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { definePlugin } from "../../../../src/contracts/plugin.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import { Ensemble, Kernel, Task } from "../../../../src/index.js";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import { retry } from "../../../../src/plugins/resilience/retry/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { rejection } from "../../../support/rejection.js";
import { failed, withAttempts } from "../llm-calls.js";

const task = Task.of("Say hello");
const fast = { baseDelayMs: 1, maxDelayMs: 2 };

describe("retry", () => {
  it("repeats a failed call of any model, keeps every attempt in the ledger, and reports it", async () => {
    const model = new ScriptedModel([
      failed("AE_MODEL_SERVER"),
      failed("AE_MODEL_CONNECTION"),
      "Hello",
    ]);
    const events: EnsembleEvent[] = [];
    await using ensemble = new Ensemble({
      model,
      tasks: [task],
      plugins: [retry(fast)],
      on: (e) => void events.push(e),
    });
    const output = await ensemble.run();
    expect(output.raw).to.equal("Hello");
    expect(
      output.metrics.ledger.map(({ attempt, outcome }) => `${attempt} ${outcome}`),
    ).to.deep.equal(["1 failed", "2 failed", "3 ok"]);
    expect(events.flatMap((e) => (e.type === "retry_scheduled" ? [e.attempt] : []))).to.deep.equal([
      1, 2,
    ]);
  });

  it("fails with the last error, which has the number of attempts", async () => {
    const model = new ScriptedModel(() => failed("AE_MODEL_SERVER"));
    await using ensemble = new Ensemble({ model, tasks: [task], plugins: [retry(fast)] });
    const error = ModelCallError.find(await rejection(ensemble.run()));
    expect([error?.code, error?.attempts, model.requests.length]).to.deep.equal([
      "AE_MODEL_SERVER",
      3,
      3,
    ]);
  });

  it("is active by default for models that declare attempts, and for no others", async () => {
    const declaring = new ScriptedModel([failed("AE_MODEL_SERVER", { retryAfterMs: 1 }), "Hello"]);
    await using patient = new Ensemble({ model: withAttempts(declaring, 2), tasks: [task] });
    expect((await patient.run()).raw).to.equal("Hello");
    const silent = new ScriptedModel([failed("AE_MODEL_SERVER", { retryAfterMs: 1 }), "Hello"]);
    await using impatient = new Ensemble({ model: silent, tasks: [task] });
    expect(ModelCallError.find(await rejection(impatient.run()))?.attempts).to.equal(1);
  });

  it("of the standard plugins is replaced by a policy of the user", async () => {
    const failures: unknown[] = [];
    const own = definePlugin({
      name: "own",
      bind: (bind) =>
        bind
          .single(Tokens.RetryPolicy)
          .toConstantValue({ next: (failure) => void failures.push(failure) }),
    });
    const model = withAttempts(new ScriptedModel([failed("AE_MODEL_SERVER"), "Hello"]), 2);
    await using ensemble = new Ensemble({ model, tasks: [task], plugins: [own] });
    await rejection(ensemble.run());
    expect(failures).to.have.length(1);
  });

  it("is a boot error next to another direct binding", async () => {
    const own = definePlugin({
      name: "own",
      bind: (bind) => bind.single(Tokens.RetryPolicy).toConstantValue({ next: () => undefined }),
    });
    const error = await rejection(new Kernel({ plugins: [own, retry()] }).boot());
    expect(error).to.have.property("code", "AE_PLUGIN");
    expect(String(error)).to.match(/own.*resilience-retry/);
  });

  it("is cancelled during its wait", async () => {
    const model = new ScriptedModel([
      failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: 30_000 }),
      "Hello",
    ]);
    await using ensemble = new Ensemble({ model, tasks: [task], plugins: [retry()] });
    const stop = new AbortController();
    const run = ensemble.run({}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect(await rejection(run)).to.have.property("code", "AE_RUN_CANCELLED");
    expect(model.requests).to.have.length(1);
  });

  it("ends its wait with the task's time limit", async () => {
    const model = new ScriptedModel([
      failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: 30_000 }),
      "Hello",
    ]);
    await using ensemble = new Ensemble({
      model,
      tasks: [new Task({ description: "Say hello", timeoutMs: 30 })],
      plugins: [retry()],
    });
    const error = await rejection(ensemble.run());
    expect((error as Error).cause).to.have.property("code", "AE_TASK_TIMEOUT");
  });

  it("honours Retry-After of a real answer, and stops immediately beyond the limit with an error that states it", async () => {
    const server = await OpenAIServer.start(
      { kind: "status", status: 429, headers: { "retry-after": "7200" } },
      { kind: "answer", text: "Hello" },
    );
    try {
      await using ensemble = new Ensemble({
        model: openai("gpt-test", { apiKey: "k", baseURL: server.url }),
        tasks: [task],
      });
      const error = ModelCallError.find(await rejection(ensemble.run()));
      expect([error?.code, error?.retryAfterMs, error?.attempts]).to.deep.equal([
        "AE_MODEL_RATE_LIMITED",
        7_200_000,
        1,
      ]);
      server.reply(
        { kind: "status", status: 429, headers: { "retry-after-ms": "5" } },
        { kind: "answer", text: "Hello" },
      );
      expect((await ensemble.run()).metrics.ledger.map(({ outcome }) => outcome)).to.deep.equal([
        "failed",
        "ok",
      ]);
    } finally {
      await server.close();
    }
  });

  it("refuses unknown options and values out of range", () => {
    expect(() => retry({ maxAttempt: 2 } as object)).to.throw(ValidationError, /maxAttempts/);
    expect(() => retry({ maxAttempts: 0 })).to.throw(ValidationError, /maxAttempts/);
    expect(() => retry({ baseDelayMs: -1 })).to.throw(ValidationError, /baseDelayMs/);
    expect(() => retry({ maxDelayMs: Number.NaN })).to.throw(ValidationError, /maxDelayMs/);
    expect(() => retry({ maxRetryAfterMs: Number.POSITIVE_INFINITY })).to.throw(
      ValidationError,
      /maxRetryAfterMs/,
    );
  });
});
