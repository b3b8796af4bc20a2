import { expect } from "chai";
import {
  guardTable,
  LABELLED_GUARDS,
  measureGuard,
  type Measured,
} from "../../bench/labelled/measure-guards.js";
import { redTeamTable, runRedTeam } from "../../bench/red-team/run-red-team.js";
import { readProjectFile } from "../support/project.js";

/** Returns the cells of a table, without the spaces that formatting adds. */
function cellsIn(text: string): readonly string[] {
  return text.split("\n").map((line) => line.replace(/\s*\|\s*/g, "|").replace(/-+/g, "-"));
}

describe("the attacks of the red team", () => {
  it("reach what docs/guards.md says, and all 60 reach their aim without guards", async () => {
    const rows = await runRedTeam();
    const [table = ""] =
      /\| aim of the attack[^]*?(?=\n\n)/.exec(readProjectFile("docs/guards.md")) ?? [];
    expect(cellsIn(table)).to.deep.equal(cellsIn(redTeamTable(rows)));
    const sum = (pick: (row: (typeof rows)[number]) => number): number =>
      rows.reduce((total, row) => total + pick(row), 0);
    expect([sum(({ attacks }) => attacks), sum(({ without }) => without)]).to.deep.equal([60, 60]);
  }).timeout(60_000);
});

describe("the error rates of the guards", function () {
  this.timeout(60_000);
  let rows: readonly Measured[];

  before(async () => {
    const measured: Measured[] = [];
    for (const guard of LABELLED_GUARDS) measured.push(await measureGuard(guard));
    rows = measured;
  });

  it("are those of docs/guards.md", () => {
    const [table = ""] =
      /\| guard +\| cases[^]*?(?=\n\n)/.exec(readProjectFile("docs/guards.md")) ?? [];
    expect(cellsIn(table)).to.deep.equal(cellsIn(guardTable(rows)));
  });

  it("reach the goals for secrets and identity numbers", () => {
    for (const { name, goal } of LABELLED_GUARDS) {
      if (goal === undefined) continue;
      const row = rows.find((one) => one.name === name);
      expect(row?.precision, name).to.be.at.least(goal.precision);
      expect(row?.recall, name).to.be.at.least(goal.recall);
    }
  });

  for (const { name, cases } of LABELLED_GUARDS)
    it(`come from at least 200 different texts in three languages, about half positive: ${name}`, () => {
      expect(new Set(cases.map(({ text }) => text)).size)
        .to.equal(cases.length)
        .and.to.be.at.least(200);
      expect(new Set(cases.map(({ language }) => language))).to.deep.equal(
        new Set(["en", "de", "fr"]),
      );
      const share = cases.filter(({ isPositive }) => isPositive).length / cases.length;
      expect(share).to.be.within(0.4, 0.6);
    });
});
