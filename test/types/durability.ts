/* eslint-disable @typescript-eslint/no-unsafe-call -- what a wrong use gives has no type */
// Programs whose runs are kept, as users write them: they compile, and every `@ts-expect-error` fails the build once it is accepted.
import type { EnsembleOutput, KeptRun, KeptRuns, Plugin } from "agentensemble";
import { Agent, Ensemble, Review, ReviewDecision, Task, tool } from "agentensemble";
import type { DurableOptions, Runs } from "agentensemble/durability";
import { Journal, connectRuns, durable, once } from "agentensemble/durability";
import { expectTypeOf } from "expect-type";

/** One process, with a journal in a folder. */
export async function oneProcess(shop: string): Promise<EnsembleOutput> {
  const refund = tool({
    name: "refund",
    description: "Pays an amount back.",
    effect: "send",
    resume: "again",
    input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
    execute: async (input, ctx) => {
      const headers = { "idempotency-key": ctx.idempotencyKey };
      const { signal } = ctx;
      await fetch(shop, { method: "POST", headers, body: JSON.stringify(input), signal });
      return "paid back";
    },
  });
  const clerk = new Agent({ role: "Clerk", goal: "settle complaints", tools: [refund] });
  const look = new Task({ description: "Read complaint {id}", agent: clerk });
  const pay = new Task({
    description: "Pay it back",
    agent: clerk,
    context: [look],
    beforeReview: Review.of({ timeoutMs: 0, prompt: "Pay this?" }),
  });
  const plugin = durable({ url: "file:./runs", suspendAfterMs: 0 });
  expectTypeOf(plugin).toExtend<Plugin>();
  expectTypeOf(plugin.runs).toEqualTypeOf<Runs>();
  await using ensemble = new Ensemble({
    model: "openai:gpt-5-mini",
    tasks: [look, pay],
    plugins: [plugin],
  });
  await ensemble.run({ id: "C-17" }, { runId: "complaint-C-17" });
  expectTypeOf(ensemble.resume("complaint-C-17")).toEqualTypeOf<Promise<EnsembleOutput>>();
  // @ts-expect-error the id of a run that is resumed is known
  void ensemble.resume("complaint-C-17", { runId: "another" });
  return await plugin.runs.resume("complaint-C-17");
}

/** A handler with a part that is executed once. */
export const load = new Task({
  name: "load",
  description: "load",
  handler: async (ctx) => {
    const orders = await once(ctx, "orders", (key) => [key, "tea"]);
    expectTypeOf(orders).toEqualTypeOf<string[]>();
    return orders;
  },
});
expectTypeOf(load).toEqualTypeOf<Task<string[]>>();

/** From another process. */
export async function elsewhere(url: string): Promise<KeptRun | undefined> {
  await using runs = await connectRuns(url, { encryptionKey: { current: "a", previous: ["b"] } });
  expectTypeOf(runs).toExtend<KeptRuns>();
  for (const { reviewId } of await runs.reviews.pending())
    await runs.reviews.resolve(reviewId, ReviewDecision.continue({ by: "ana@example.org" }));
  const fork = await runs.fork("complaint-C-17", { from: "pay" });
  await runs.settle(fork, "key", { result: "paid back" });
  await runs.settle(fork, "key", "again");
  // @ts-expect-error another process has no ensemble to go on with
  void runs.resume(fork);
  // @ts-expect-error a filter of what is deleted has no page
  await runs.deleteAll({ after: "x" });
  await runs.deleteAll({ status: "completed", updatedBefore: "2026-01-01T00:00:00Z" });
  return await runs.get(fork);
}

expectTypeOf(Journal.inMemory()).toEqualTypeOf<Journal>();
expectTypeOf<DurableOptions["onChange"]>().toEqualTypeOf<"fail" | "keep" | "redo" | undefined>();
expectTypeOf<"never">().not.toExtend<DurableOptions["inDoubt"]>();
