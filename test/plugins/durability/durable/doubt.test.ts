import type { EnsembleOptions, Ensemble } from "agentensemble";
import { ReviewDecision, tool } from "agentensemble";
import type { DurableOptions } from "agentensemble/durability";
import { Journal, durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { agent, failure, journalWith, keptEnsemble, task } from "./kept-team.js";

describe("a tool call whose end is unknown", () => {
  interface Doubt {
    readonly journal: Journal;
    readonly sent: readonly string[];
    /** Another process with the same program. */
    make(o?: DurableOptions, reviewHandler?: EnsembleOptions["reviewHandler"]): Ensemble;
  }

  /** A run whose process died after the tool had finished its work. */
  const begun = async (resume?: "fail" | "again"): Promise<Doubt> => {
    const journal = Journal.inMemory();
    const sent: string[] = [];
    const mail = tool({
      name: "mail",
      description: "Sends",
      effect: "send",
      ...(resume !== undefined && { resume }),
      execute: (_text, { idempotencyKey }) => {
        sent.push(idempotencyKey);
        return "sent";
      },
    });
    const model = new ScriptedModel(({ messages }) =>
      messages.length > 2
        ? "mailed"
        : { toolCalls: [{ name: "mail", arguments: { input: "x" }, id: "m/1" }] },
    );
    const tasks = [task("t", { agent: agent("Sender", { tools: [mail] }) })];
    const make: Doubt["make"] = (o = {}, reviewHandler) =>
      keptEnsemble({ model, tasks, reviewHandler }, { journal, ...o });
    const dying = journalWith(journal, {
      append: (claim, entry) =>
        entry.kind === "tool"
          ? Promise.reject(new Error("the process ends"))
          : journal.append(claim, entry),
    });
    await using dead = make({ journal: dying });
    await dead.run({}, { runId: "r", throwOnError: false });
    return { journal, sent, make };
  };

  it("ends the run if the call must not be repeated, until it is settled", async () => {
    const { journal, sent, make } = await begun("fail");
    await using ensemble = make();
    const { error } = await ensemble.run({}, { runId: "r", throwOnError: false });
    expect(error).to.include({ code: "AE_TOOL_IN_DOUBT", key: "r/t@1/m/1", toolName: "mail" });
    const { runs } = durable({ journal });
    expect((await failure(runs.settle("r", "r/t@1/x", "again"))).hint).to.include("r/t@1/m/1");
    await runs.settle("r", "r/t@1/m/1", { result: "it was sent" });
    expect((await ensemble.resume("r")).raw).to.equal("mailed");
    expect(sent).to.deep.equal(["r/t@1/m/1"]);
  });

  it("is repeated with the same key if a user, the tool or the option allows it", async () => {
    for (const [resume, inDoubt] of [
      ["fail", "ask"],
      ["again", "ask"],
      [undefined, "again"],
    ] as const) {
      // prettier-ignore
      const { journal, sent, make } = await begun(resume);
      if (resume === "fail") await durable({ journal }).runs.settle("r", "r/t@1/m/1", "again");
      await using ensemble = make({ inDoubt });
      expect((await ensemble.resume("r")).raw).to.equal("mailed");
      expect(sent).to.deep.equal(["r/t@1/m/1", "r/t@1/m/1"]);
    }
  });

  for (const [what, decision, raw, calls] of [
    ["repeats the call", ReviewDecision.continue(), "mailed", 2],
    ["provides the result", ReviewDecision.edit("it was sent"), "mailed", 1],
    ["ends the run", ReviewDecision.exitEarly(), "", 1],
  ] as const)
    it(`requests a review, whose decision ${what}`, async () => {
      const { sent, make } = await begun();
      const asked: unknown[] = [];
      await using ensemble = make({}, ({ timing, toolName, timeoutMs }) => {
        asked.push([timing, toolName, timeoutMs]);
        return decision;
      });
      const output = await ensemble.run({}, { runId: "r", throwOnError: false });
      expect([output.raw, sent.length]).to.deep.equal([raw, calls]);
      expect(asked).to.deep.equal([["DURING_EXECUTION", "mail", 0]]);
    });
});
