// Four plugins that import what users may import, each with the effect of the built-in one.
import type { AnyTask, EnsembleEvent, EnsembleOptions, Plugin, RunOptions } from "agentensemble";
import {
  Agent,
  AgentEnsembleError,
  Ensemble,
  GuardrailResult,
  namedGuardrail,
  Review,
  ReviewDecision,
  Task,
  tool,
  Tokens,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { tokenBudget } from "./budget.js";
import { guardrails } from "./guardrails.js";
import { review } from "./review.js";
import { tracing, type Span } from "./tracing.js";

/** How a run ended, without what differs from run to run. */
interface Ended {
  readonly outputs: readonly string[];
  readonly exitReason: string | undefined;
  readonly error: readonly (string | undefined)[];
  readonly events: readonly EnsembleEvent[];
}

const clerk = new Agent({ role: "Clerk", goal: "Write" });

/** Runs an ensemble of its own to whatever end. */
async function ended(options: EnsembleOptions, runOptions: RunOptions = {}): Promise<Ended> {
  const events: EnsembleEvent[] = [];
  const ensemble = new Ensemble({ ...options, on: (event) => void events.push(event) });
  const output = await ensemble.run({}, { ...runOptions, throwOnError: false });
  await ensemble.dispose();
  const cause = output.error?.cause;
  const known = AgentEnsembleError.isInstance(cause) ? cause : output.error;
  return {
    outputs: output.taskOutputs.map(({ raw }) => raw),
    exitReason: output.exitReason,
    error: [output.error?.code, known?.code, known?.message],
    events,
  };
}

const typesOf = (events: readonly EnsembleEvent[]): readonly string[] =>
  events.map(({ type }) => type);

describe("a plugin from outside that does what the built-in one does", () => {
  it("judges inputs and outputs of tasks", async () => {
    const facts = new Task({ description: "Facts", handler: () => "three" });
    const cases: readonly (() => AnyTask)[] = [
      () =>
        new Task({
          description: "Card 4111",
          handler: () => "x",
          inputGuardrails: [
            namedGuardrail("no cards", ({ taskDescription }) =>
              taskDescription.includes("4111") ? GuardrailResult.failure("a card") : true,
            ),
          ],
        }),
      () => {
        let tries = 0;
        return new Task({
          description: "Count",
          handler: () => ++tries,
          guardrailRetries: 2,
          outputGuardrails: [({ parsed }) => (parsed === 2 ? true : GuardrailResult.failure("no"))],
        });
      },
      () =>
        new Task({
          description: "Compare",
          context: [facts],
          handler: () => "four",
          outputGuardrails: [({ raw, getOutput }) => ({ ok: raw === getOutput(facts).raw })],
        }),
    ];
    for (const made of cases) {
      const builtIn = await ended({ tasks: [facts, made()] });
      const outside = await ended({ tasks: [facts, made()], plugins: [guardrails()] });
      expect({ ...outside, events: typesOf(outside.events) }).to.deep.equal({
        ...builtIn,
        events: typesOf(builtIn.events),
        ...(made === cases[2] && { error: outside.error }), // a verdict without a reason has another text
      });
    }
    const refused = await ended({ tasks: [cases[0]?.() as AnyTask], plugins: [guardrails()] });
    expect(refused.error[1]).to.equal("AE_GUARDRAIL_VIOLATION");
    const retried = await ended({ tasks: [cases[1]?.() as AnyTask], plugins: [guardrails()] });
    expect(retried.outputs).to.deep.equal(["2"]);
  });

  it("limits the tokens of a run, and of the runs that join it", async () => {
    const limits = { maxTokens: 1_000, maxOutputTokensPerCall: 400 };
    const seen: Ended[] = [];
    for (const plugin of [budget(limits), tokenBudget(limits)]) {
      const usage = { inputTokens: 300, outputTokens: 200 };
      const model = new ScriptedModel([{ text: "said", usage }], { onExhausted: "repeat-last" });
      const say = (description: string): Task => new Task({ description, agent: clerk });
      const inner = new Ensemble({ model, tasks: [say("Inside")], plugins: [plugin] });
      const joins = new Task({
        description: "Joins",
        handler: async ({ run }) => (await inner.run({}, { parent: run })).raw,
      });
      seen.push(
        await ended({ model, tasks: [say("First"), joins, say("Last")], plugins: [plugin] }),
      );
      await inner.dispose();
    }
    for (const { outputs, exitReason, error, events } of seen) {
      expect(outputs).to.deep.equal(["said", "said"]);
      expect(exitReason).to.equal("ERROR");
      expect(error[1]).to.equal("AE_BUDGET_EXCEEDED");
      const exceeded = events.find(({ type }) => type === "budget_exceeded");
      expect(exceeded).to.include({ limit: "maxTokens", allowed: 1_000, used: 1_000 });
    }
  });

  it("asks a person about outputs", async () => {
    const decisions = [
      ReviewDecision.continue(),
      ReviewDecision.edit("better"),
      ReviewDecision.exitEarly(),
    ];
    for (const decision of decisions) {
      const asked: unknown[] = [];
      const seen: Ended[] = [];
      for (const plugins of [[], [review()]] as readonly (readonly Plugin[])[])
        seen.push(
          await ended({
            plugins,
            tasks: [
              new Task({ description: "Draft", handler: () => "draft", review: Review.required() }),
              new Task({ description: "Next", handler: () => "next" }),
            ],
            reviewHandler: ({ taskDescription, taskOutput, timing }) => {
              asked.push({ taskDescription, taskOutput, timing });
              return decision;
            },
          }),
        );
      const [builtIn, outside] = seen;
      expect(outside?.outputs).to.deep.equal(builtIn?.outputs);
      expect(outside?.exitReason).to.equal(builtIn?.exitReason);
      expect(typesOf(outside?.events ?? [])).to.deep.equal(typesOf(builtIn?.events ?? []));
      expect(typesOf(outside?.events ?? [])).to.include("review_resolved");
      expect(asked[1]).to.deep.equal(asked[0]);
    }
  });

  it("makes spans of runs, tasks and calls, with the run's trace id and without its secrets", async () => {
    const spans: Span[] = [];
    const plugin = tracing(spans);
    const filter: Plugin = {
      name: "filter",
      bind: (bind) =>
        void bind
          .many(Tokens.SecretFilter)
          .toConstantValue((text) => text.replaceAll("sesame", "[hidden]")),
    };
    const inner = new Ensemble({
      tasks: [new Task({ name: "inside", description: "i", handler: () => "x" })],
      plugins: [plugin],
    });
    const open = tool({
      name: "open",
      description: "Opens",
      execute: async (_input, { scope }) => (await inner.run({}, { parent: scope.run })).raw,
    });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "open", arguments: { input: "sesame" } }] },
      "done",
    ]);
    const ensemble = new Ensemble({
      model,
      tasks: [
        new Task({
          name: "door",
          description: "Say sesame",
          agent: new Agent({ role: "Porter", goal: "Open", tools: [open] }),
        }),
      ],
      plugins: [plugin, filter],
    });
    const { trace } = await ensemble.run({}, { runId: "outer" });
    await ensemble.dispose();
    await inner.dispose();
    const pathOf = (span: Span | undefined): string =>
      span === undefined ? "" : `${pathOf(span.parent)}/${span.name}`;
    expect(spans.map(pathOf)).to.deep.equal([
      "/run",
      "/run/task door",
      "/run/task door/chat scripted",
      "/run/task door/tool open",
      "/run/run",
      "/run/run/task inside",
      "/run/task door/chat scripted",
    ]);
    expect(new Set(spans.map(({ outcome }) => outcome))).to.deep.equal(new Set(["ok"]));
    expect(new Set(spans.map(({ traceId }) => traceId))).to.deep.equal(new Set([trace.traceId]));
    expect(spans.map(({ text }) => text).join())
      .to.include("[hidden]")
      .and.not.include("sesame");
  });
});
