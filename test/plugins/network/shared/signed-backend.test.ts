import { expect } from "chai";
import { Ensemble } from "agentensemble";
import { NetworkBackend, Transport } from "agentensemble/network";
import { requestQueueContract, transportContract } from "agentensemble/testing";
import { until } from "../../../support/time.js";
import { ask, handlerTask, requests } from "../../../service/support.js";

const secret = "a secret of the kitchen";

requestQueueContract("signed, in memory", {
  create: ({ agingMs }) => {
    const { queue } = NetworkBackend.signed(NetworkBackend.inMemory({ agingMs }), { secret });
    return { queue };
  },
});
transportContract("over a signed backend", {
  create: () => {
    const backend = NetworkBackend.signed(NetworkBackend.inMemory(), { secret });
    return { transport: Transport.of("kitchen", backend) };
  },
});

describe("NetworkBackend.signed", () => {
  it("refuses to execute requests that are unsigned, signed with another secret, changed or moved", async () => {
    const open = NetworkBackend.inMemory();
    const signed = NetworkBackend.signed(open, { secret });
    const executed: unknown[] = [];
    const cook = handlerTask(({ inputs }) => {
      executed.push(inputs["dish"]);
      return "soup";
    });
    await using kitchen = new Ensemble({ name: "kitchen", shareTasks: { cook } });
    await using service = await kitchen.start({ backend: signed, signals: false });
    const request = requests();
    const denied = { status: "REJECTED", reason: "DENIED" };
    expect(await ask(open, request("cook", { inputs: { dish: 1 } }))).to.include(denied);
    const other = NetworkBackend.signed(open, { secret: "another secret that is long" });
    expect(await ask(other, request("cook", { inputs: { dish: 2 } }))).to.include(denied);
    const elsewhere = request("cook", { requestId: "moved", inputs: { dish: 3 } });
    await signed.queue.enqueue("bar", elsewhere);
    const lease = await open.queue.dequeue("bar", { timeoutMs: 0, leaseMs: 60_000 });
    const moved = lease?.request ?? elsewhere;
    expect(await ask(open, moved)).to.include(denied);
    expect(await ask(open, { ...moved, requestId: "changed", from: "the boss" })).to.include(
      denied,
    );
    await until(async () => (await service.deadLetters()).length === 4); // after the results
    const letters = await service.deadLetters();
    expect(letters.filter(({ reason }) => !reason.startsWith("DENIED"))).to.deep.equal([]);
    expect(await ask(signed, request("cook", { inputs: { dish: 5 } }))).to.include({
      status: "COMPLETED",
    });
    expect(executed).to.deep.equal([5]);
  });

  it("accepts the old and the new secret while it is changed", async () => {
    const open = NetworkBackend.inMemory();
    const changed = NetworkBackend.signed(open, { secret: ["the new secret, long", secret] });
    const { queue } = NetworkBackend.signed(open, { secret });
    await queue.enqueue("kitchen", requests()("cook"));
    const lease = await changed.queue.dequeue("kitchen", { timeoutMs: 0, leaseMs: 60_000 });
    expect(lease?.request.task).to.equal("cook");
  });

  it("refuses a short secret, and a missing secret", () => {
    for (const wrong of ["short", [], [secret, ""], undefined])
      expect(() =>
        NetworkBackend.signed(NetworkBackend.inMemory(), { secret: wrong as string }),
      ).to.throw("must have at least 16 characters");
  });
});
