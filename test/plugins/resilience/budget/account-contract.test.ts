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

/** What the suite finds, by what the accounts do wrong. */
const FOUND: Readonly<Record<BudgetFault, string>> = {
  "adds what was used earlier":
    "counts earlier executions once: the greater of the stored and the reported usage",
  "counts settlements twice": "counts a reservation once, however often it is settled",
  "drops renewed reservations":
    "gives back what a process that has died reserved, and keeps what is renewed",
  "forgets what was used earlier": "begins with what earlier executions used",
  "forgets late settlements":
    "gives back what a process that has died reserved, and keeps what is renewed",
  "has one account for all": "keeps accounts apart",
  "ignores cost": "refuses where the cost alone does not fit, and reserves nothing then",
  "ignores limits": "reserves up to a limit and nothing beyond it",
  "keeps reservations of the dead":
    "gives back what a process that has died reserved, and keeps what is renewed",
  "keeps what is settled reserved": "counts what was used in the place of what was reserved",
  "looks before it reserves":
    "gives the last part to one of two processes that ask at the same moment",
  "never refreshes": "shows with a refresh what other processes have used and reserved",
  "refuses the last part": "reserves up to a limit and nothing beyond it",
  "reserves what it refuses":
    "refuses where the cost alone does not fit, and reserves nothing then",
  "shows an old state with a refusal":
    "shows with a refusal what other processes have used and reserved",
  "stops at what was reserved": "counts more than was reserved, and refuses everything then",
};

describe("budgetAccountContract", () => {
  for (const [fault, title] of Object.entries(FOUND) as [BudgetFault, string][]) {
    it(`finds accounts of which it is true: ${fault}`, async () => {
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

  it("finds accounts that are not shared where they should be", async () => {
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
