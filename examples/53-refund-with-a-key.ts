// A tool with an effect is never called twice unnoticed. This tool passes its idempotency key to a
// shop that recognizes such keys, so an uncertain call may be repeated. The process is killed after
// the refund and before its result is stored. The refund is still paid only once.
// Run it: npm run example -- 53
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { durable } from "agentensemble/durability";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { crash, inProcesses } from "./support/processes.js";
import { realOrScripted } from "./support/scripted.js";

/** A shop that pays a refund once for each key. */
async function payBack(book: string, order: string, key: string): Promise<string> {
  const paid = await readFile(book, "utf8").catch(() => "");
  if (paid.includes(key)) console.log(`  shop: ${order} was paid back before (${key})`);
  else {
    await appendFile(book, `${key}\n`);
    console.log(`  shop: pays ${order} back (${key})`);
  }
  return `${order} is paid back`;
}

const { model } = realOrScripted(({ messages }) =>
  messages.some(({ role }) => role === "tool")
    ? "The customer has the money back."
    : { toolCalls: [{ name: "refund", arguments: { order: "C-17" }, id: "call-1" }] },
);

async function work(folder: string, isKilled: boolean): Promise<void> {
  const refund = tool({
    name: "refund",
    description: "Pays an order back.",
    effect: "send",
    resume: "again", // the shop executes each key once
    input: z.object({ order: z.string() }),
    execute: async ({ order }, { idempotencyKey }) => {
      const answer = await payBack(join(folder, "shop"), order, idempotencyKey);
      if (isKilled) crash();
      return answer;
    },
  });
  const clerk = new Agent({ role: "Clerk", goal: "Settle complaints", tools: [refund] });
  await using ensemble = new Ensemble({
    model,
    tasks: [new Task({ name: "settle", description: "Pay order C-17 back", agent: clerk })],
    plugins: [durable({ url: `file:${join(folder, "runs")}` })],
  });
  const output = await ensemble.run({}, { runId: "complaint-C-17" });
  console.log(`  result: ${output.raw}`);
}

const [folder, word] = process.argv.slice(2);
if (folder === undefined) inProcesses(import.meta.url, ["killed", "resumed"]);
else await work(folder, word === "killed");
