import { join } from "node:path";
import { expect } from "chai";
import { openFileJournal } from "../../../../src/plugins/durability/shared/file/file-journal.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { until } from "../../../support/time.js";
import { CountingWorld, sumOf } from "./counting-world.js";
import { answering } from "./killed-run.js";
import { execute } from "./killed-process.js";

describe("a run that two processes execute concurrently", function () {
  this.timeout(60_000);

  it("continues in the first process; the second receives the name of the first, and causes no costs", async () => {
    const world = await CountingWorld.start();
    const place = { folder: join(temporaryFolder(), "runs") };
    const journal = openFileJournal(place.folder);
    const outside = world.outside(join(temporaryFolder(), "memory.jsonl"));
    const listen = (): void => undefined;
    try {
      const first = execute(place, outside, { listen });
      const asks = async (): Promise<boolean> => (await journal.reviews.pending()).length > 0;
      await until(asks); // the first process waits for a review
      const owner = (await journal.get("team"))?.owner ?? "nobody";
      const before = sumOf(world.paid);
      const second = await execute(place, outside, { listen });
      expect(second?.map(({ exitReason }) => exitReason)).to.deep.equal(["ERROR", "COMPLETED", "COMPLETED"]); // prettier-ignore
      expect(second?.[0]?.error).to.include(owner);
      const inOthers = second?.slice(1).reduce((sum, { totals }) => sum + totals.llmCallCount, 0);
      expect(sumOf(world.paid) - before).to.equal(inOthers);
      const stop = answering(journal, world.mails);
      const runs = await first.finally(stop);
      expect(runs?.map(({ exitReason }) => exitReason)).to.deep.equal(["COMPLETED", "COMPLETED", "COMPLETED"]); // prettier-ignore
      expect(runs?.slice(1)).to.deep.equal(second?.slice(1));
      const calls = runs?.reduce((sum, { totals }) => sum + totals.llmCallCount, 0);
      expect(sumOf(world.paid)).to.equal(calls);
    } finally {
      await journal.close();
      await world.close();
    }
  });
});
