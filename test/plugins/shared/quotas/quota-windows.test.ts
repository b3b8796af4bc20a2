import { expect } from "chai";
import fc from "fast-check";
import type { BudgetAccounts, CallerQuota } from "../../../../src/index.js";
import { LocalBudgetAccounts } from "../../../../src/plugins/resilience/budget/local-accounts.js";
import { QuotaWindows } from "../../../../src/plugins/shared/quotas/quota-windows.js";
import { SteppingClock } from "../../../service/stepping-clock.js";
import { rejection } from "../../../support/rejection.js";
import { SharedBudgets } from "../../../support/shared-budgets.js";

const HOUR = 3_600_000;

async function admitted(windows: QuotaWindows, quota: CallerQuota, key = "ada"): Promise<boolean> {
  const permit = await windows.admit(key, quota);
  if ("limit" in permit) return false;
  await permit.accepted();
  return true;
}

describe("the windows of quotas", () => {
  it("are released after their end, so that memory contains only the callers of one window", async () => {
    const clock = new SteppingClock();
    const windows = new QuotaWindows({ clock, accounts: new LocalBudgetAccounts() });
    const quota = { windowMs: HOUR, maxRequests: 1 };
    for (let hour = 0; hour < 5; hour++) {
      for (let caller = 0; caller < 20; caller++)
        expect(await admitted(windows, quota, `caller-${hour}-${caller}`)).to.equal(true);
      expect(windows.size).to.equal(20);
      await clock.jump(HOUR);
    }
    await windows.admit("last", { windowMs: HOUR / 2, maxRequests: 1 });
    expect(windows.size).to.equal(1);
  });

  it("of other lengths remain until their own end", async () => {
    const clock = new SteppingClock();
    const windows = new QuotaWindows({ clock, accounts: new LocalBudgetAccounts() });
    const day = { windowMs: 24 * HOUR, maxRequests: 1 };
    expect(await admitted(windows, day)).to.equal(true);
    for (let hour = 0; hour < 3; hour++) {
      await clock.jump(HOUR);
      expect(await admitted(windows, { windowMs: HOUR, maxRequests: 1 }, "bob")).to.equal(true);
      expect(await admitted(windows, day)).to.equal(false);
      expect(windows.size).to.equal(2);
    }
  });

  it("follow a limit that changes within a window", async () => {
    for (const accounts of [new LocalBudgetAccounts(), new SharedBudgets().client()]) {
      const windows = new QuotaWindows({ clock: new SteppingClock(), accounts });
      const quota = (maxRequests: number): CallerQuota => ({ windowMs: HOUR, maxRequests });
      const open = await windows.admit("ada", quota(1)); // reserved while the limit changes
      expect(await admitted(windows, quota(1))).to.equal(false);
      expect(await admitted(windows, quota(3))).to.equal(true);
      expect(await admitted(windows, quota(3))).to.equal(true);
      expect(await admitted(windows, quota(3))).to.equal(false);
      expect(await admitted(windows, quota(1))).to.equal(false);
      if ("accepted" in open) await open.accepted();
      expect(await admitted(windows, quota(3))).to.equal(false);
    }
  });

  it("are counted again after a failure of the store", async () => {
    let isAway = true;
    const local = new LocalBudgetAccounts();
    const accounts: BudgetAccounts = {
      open: (request) => {
        if (isAway) throw new Error("away");
        return local.open(request);
      },
    };
    const windows = new QuotaWindows({ clock: new SteppingClock(), accounts });
    const quota = { windowMs: HOUR, maxRequests: 1 };
    expect(await rejection(windows.admit("ada", quota))).to.have.property("message", "away");
    expect(windows.size).to.equal(0);
    isAway = false;
    expect(await admitted(windows, quota)).to.equal(true);
    expect(await admitted(windows, quota)).to.equal(false);
  });

  it("admit exactly as many requests as the limit, in any order of calls", async () => {
    const STEP = fc.record({
      key: fc.constantFrom("ada", "bob"),
      how: fc.constantFrom("accepted", "accepted", "refused", "pending"),
      waitMs: fc.constantFrom(0, 0, 0, HOUR / 4, HOUR),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (steps, maxRequests, isShared) => {
          const clock = new SteppingClock();
          const shared = new SharedBudgets(60_000, [], () => 0);
          const place = (): QuotaWindows =>
            new QuotaWindows({
              clock,
              accounts: isShared ? shared.client() : new LocalBudgetAccounts(),
            });
          const one = place();
          const processes = isShared ? [one, place()] : [one];
          const quota = { windowMs: HOUR, maxRequests };
          const counts = new Map<string, { asked: number; taken: number; undone: number }>();
          const work: Promise<void>[] = [];
          for (const [n, { key, how, waitMs }] of steps.entries()) {
            if (waitMs > 0) {
              await Promise.all(work); // a request belongs to the window in which it asks
              await clock.jump(waitMs);
            }
            const name = `${key}@${Math.floor(clock.now().getTime() / HOUR)}`;
            const count = counts.get(name) ?? { asked: 0, taken: 0, undone: 0 };
            counts.set(name, count);
            const windows = processes[n % processes.length] ?? one;
            count.asked++;
            work.push(
              windows.admit(key, quota).then(async (permit) => {
                if ("limit" in permit) return;
                if (how === "refused") {
                  count.undone++;
                  return permit.refused();
                }
                count.taken++;
                return how === "accepted" ? permit.accepted() : undefined;
              }),
            );
          }
          await Promise.all(work);
          for (const { asked, taken, undone } of counts.values()) {
            expect(taken).to.be.at.most(maxRequests);
            if (undone === 0) expect(taken).to.equal(Math.min(asked, maxRequests));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
