import { ValidationError } from "agentensemble";
import { expect } from "chai";
import { LocalBudgetAccounts } from "../../../../src/plugins/resilience/budget/local-accounts.js";
import { budgetAccountContract } from "../../../../src/testing.js";
import { SharedBudgets, type BudgetFault } from "../../../support/shared-budgets.js";
import { failuresOf } from "../../testing/failures-of.js";

budgetAccountContract("in process", { create: () => ({ accounts: new LocalBudgetAccounts() }) });
budgetAccountContract("elsewhere", {
  shares: true,
  create: () => {
    const store = new SharedBudgets(300);
    return { accounts: store.client(), other: store.client() };
  },
});

/** The failing test of the suite for each fault of the accounts. */
const FOUND: Readonly<Record<BudgetFault, string>> = {
  "adds earlier usage":
    "counts earlier executions once: the greater of the stored and the reported usage",
  "counts settlements twice": "counts a reservation once, however often it is settled",
  "drops renewed reservations":
    "releases the reservations of a dead process, and keeps renewed ones",
  "forgets earlier usage": "begins with the usage of earlier executions",
  "forgets late settlements": "releases the reservations of a dead process, and keeps renewed ones",
  "uses one account for all": "keeps accounts apart",
  "ignores cost": "refuses a reservation whose cost alone exceeds the limit, and reserves nothing",
  "ignores limits": "reserves up to the limit and nothing beyond it",
  "keeps reservations of dead processes":
    "releases the reservations of a dead process, and keeps renewed ones",
  "keeps settled amounts reserved": "counts the actual usage in place of the reservation",
  "checks before it reserves":
    "grants the last part to only one of two processes that request it at once",
  "never refreshes": "includes the usage and reservations of other processes in a refresh",
  "refuses the last part": "reserves up to the limit and nothing beyond it",
  "reserves refused amounts":
    "refuses a reservation whose cost alone exceeds the limit, and reserves nothing",
  "returns an old state with a refusal":
    "includes the usage and reservations of other processes in a refusal",
  "stops at the reserved amount":
    "counts usage above the reservation, and then refuses every reservation",
};

describe("budgetAccountContract", () => {
  for (const [fault, title] of Object.entries(FOUND) as [BudgetFault, string][]) {
    it(`detects accounts with this fault: ${fault}`, async () => {
      const failures = await failuresOf(() =>
        budgetAccountContract("broken", {
          shares: true,
          create: () => {
            const store = new SharedBudgets(40, [fault]);
            return { accounts: store.client(), other: store.client() };
          },
        }),
      );
      expect(failures).to.include(title);
    });
  }

  it("detects accounts that are not shared as declared", async () => {
    const failures = await failuresOf(() =>
      budgetAccountContract("alone", {
        shares: true,
        create: () => ({ accounts: new LocalBudgetAccounts(), other: new LocalBudgetAccounts() }),
      }),
    );
    expect(failures).to.have.length(5);
  });

  it("refuses an unknown option", () => {
    const options = { create: () => ({ accounts: new LocalBudgetAccounts() }), share: true };
    expect(() => budgetAccountContract("odd", options)).to.throw(ValidationError);
  });
});
