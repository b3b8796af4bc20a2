import { expect } from "chai";
import {
  guardTable,
  LABELLED_GUARDS,
  measureGuard,
  type Measured,
} from "../../bench/labelled/measure-guards.js";
import { ScriptedModel } from "agentensemble/testing";
import { evaluateRedTeam, redTeamTable } from "../../bench/red-team/run-red-team.js";
import { readProjectFile } from "../support/project.js";

/** Returns the cells of a table, without the spaces that formatting adds. */
function cellsIn(text: string): readonly string[] {
  return text.split("\n").map((line) => line.replace(/\s*\|\s*/g, "|").replace(/-+/g, "-"));
}

describe("the attacks of the red team", () => {
  it("succeed as often as docs/guards.md states, and all 60 succeed without guards", async () => {
    const result = await evaluateRedTeam();
    const [table = ""] =
      /\| aim of the attack[^]*?(?=\n\n)/.exec(readProjectFile("docs/guards.md")) ?? [];
    expect(cellsIn(table)).to.deep.equal(cellsIn(redTeamTable(result)));
    const { without, guarded } = result;
    expect(without.scores.map(({ scores, mean }) => [scores, mean])).to.deep.equal(
      Array.from({ length: 5 }, () => [12, 0]),
    );
    expect([without.problemCount, guarded.problemCount]).to.deep.equal([0, 0]);
    expect(guarded.comparison?.verdict).to.equal("better");
  }).timeout(60_000);

  it("count no run that failed without a guard", async () => {
    const failing = new ScriptedModel(() => {
      throw new Error("no such model");
    });
    const { without, guarded } = await evaluateRedTeam(failing);
    expect([without.problemCount, guarded.problemCount]).to.deep.equal([60, 48]);
    expect(without.scores.map(({ scores }) => scores)).to.deep.equal([0, 0, 0, 0, 0]);
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
    it(`are measured on at least 200 texts in three languages, from named sources: ${name}`, () => {
      expect(new Set(cases.map(({ text }) => text)).size)
        .to.equal(cases.length)
        .and.to.be.at.least(200);
      expect(new Set(cases.map(({ language }) => language))).to.deep.equal(
        new Set(["en", "de", "fr"]),
      );
      const outside = cases.filter(({ source }) => source !== undefined);
      expect(outside.length / cases.length).to.be.at.least(1 / 3);
      const share = cases.filter(({ isPositive }) => isPositive).length / cases.length;
      expect(share).to.be.within(0.4, 0.6);
    });
});
