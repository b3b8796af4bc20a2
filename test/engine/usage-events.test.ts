import type { EnsembleEvent, Ev } from "agentensemble";
import { Agent, Ensemble, ModelCallError, Task, definePlugin, Tokens } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd } from "../support/kernel-fixtures.js";

function usageOf(events: readonly EnsembleEvent[]): readonly Ev<"usage_recorded">[] {
  return events.filter((event): event is Ev<"usage_recorded"> => event.type === "usage_recorded");
}

const agent = new Agent({ role: "Writer", goal: "g" });
const failure = new ModelCallError("too busy", {
  provider: "scripted",
  modelId: "scripted",
  code: "AE_MODEL_RATE_LIMITED",
  retryable: true,
});
const atOnce = definePlugin({
  name: "retry-at-once",
  bind: (bind) =>
    void bind
      .single(Tokens.RetryPolicy)
      .toConstantValue({ next: (_error, attempt) => (attempt < 3 ? { delayMs: 0 } : undefined) }),
});

describe("the event usage_recorded", () => {
  it("is emitted once for each attempt, with its error, and equals the records of the run", async () => {
    const { events, output } = await runToEnd(
      {
        model: new ScriptedModel([failure, "done"]),
        tasks: [new Task({ name: "t", description: "a", agent })],
        plugins: [atOnce],
      },
      { tags: { team: "x" } },
    );
    const found = usageOf(events);
    expect(
      found.map(({ attempt, outcome, iteration, errorCode }) => [
        attempt,
        outcome,
        iteration,
        errorCode,
      ]),
    ).to.deep.equal([
      [1, "failed", 0, "AE_MODEL_RATE_LIMITED"],
      [2, "ok", 0, undefined],
    ]);
    expect(found[0]?.error).to.equal("too busy");
    expect(found[1]).to.not.have.property("error");
    expect(found[1]).to.deep.include({ taskId: "t", agentRole: "Writer", purpose: "task" });
    expect(found[1]?.tags).to.deep.equal({ team: "x" });
    for (const [index, record] of output.metrics.ledger.entries())
      expect(found[index]).to.deep.include({
        ...record,
        latencyMs: Math.round(record.latencyMs),
      });
  });

  it("is emitted in the run that made the call, and not again in the run that it joined", async () => {
    const seen: EnsembleEvent[] = [];
    const inner = new Ensemble({
      model: new ScriptedModel(["inner"]),
      tasks: [new Task({ description: "in", agent })],
      on: (event) => void seen.push(event),
    });
    const { output, events } = await runToEnd({
      tasks: [
        new Task({
          description: "out",
          handler: async ({ run }) => (await inner.run({}, { parent: run })).raw,
        }),
      ],
    });
    expect(output.metrics.ledger).to.have.length(1);
    expect(usageOf(events)).to.have.length(0);
    expect(usageOf(seen)).to.have.length(1);
    await inner.dispose();
  });
});
