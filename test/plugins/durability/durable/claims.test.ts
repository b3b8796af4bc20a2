import { JournalError } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { expect } from "chai";
import { endless, journalWith, keptEnsemble, modelOf, task } from "./kept-team.js";

describe("a claim", () => {
  it("that another process has taken over ends the run, which writes no further entry", async () => {
    const journal = Journal.inMemory();
    const { waits } = endless("waits");
    let released = 0;
    const lost = journalWith(journal, {
      renew: () => Promise.resolve({ state: "lost" }),
      release: () => Promise.resolve(void released++),
    });
    await using ensemble = keptEnsemble({ tasks: [waits] }, { journal: lost, leaseMs: 100 });
    const output = await ensemble.run({}, { runId: "r", throwOnError: false });
    expect([output.error?.code, released]).to.deep.equal(["AE_RUN_FENCED", 0]);
    expect(await journal.get("r")).to.include({ status: "running" });
  });

  it("shows a cancellation that another process requested", async () => {
    const journal = Journal.inMemory();
    const { waits, began } = endless("waits");
    await using ensemble = keptEnsemble({ tasks: [waits] }, { journal, leaseMs: 100 });
    const running = ensemble.run({}, { runId: "r", throwOnError: false });
    await began;
    expect(await durable({ journal }).runs.cancel("r", "too dear")).to.equal(true);
    const { exitReason, error } = await running;
    expect([exitReason, error?.message]).to.deep.equal(["CANCELLED", "The run was cancelled: too dear"]); // prettier-ignore
    expect(await journal.get("r")).to.include({ status: "cancelled" });
  });

  it("is tried again while the journal can't be written", async () => {
    const journal = Journal.inMemory();
    const { model } = modelOf();
    let failures = 2;
    const shaky = journalWith(journal, {
      append: (claim, entry) =>
        failures-- > 0
          ? Promise.reject(new JournalError("the disk is full"))
          : journal.append(claim, entry),
    });
    await using ensemble = keptEnsemble({ model, tasks: [task("one")] }, { journal: shaky });
    expect((await ensemble.run({}, { runId: "r" })).raw).to.equal("done one");
    expect((await journal.entries("r")).length).to.equal(2);
  });
});
