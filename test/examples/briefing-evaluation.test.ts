import { readFileSync } from "node:fs";
import { join } from "node:path";
import { evaluate, grounded, recordings, scorer, type EvaluationResult } from "agentensemble/evals";
import { offline } from "agentensemble/providers/offline";
import { expect } from "chai";
import { quotationsIn } from "../../examples/briefing/quotations.js";
import { briefingTeam } from "../../examples/briefing/team.js";
import { projectRoot } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const CASES = [
  ["guardrails.md"],
  ["tool-loops.md"],
  ["budgets-and-cost.md", "prompt-injection.md"],
];
const pathOf = (name: string): string => join(projectRoot, "examples/data", name);

const dataset = CASES.map((names) => ({
  id: names.join(" and "),
  input: names,
  metadata: { sources: names.map((name) => readFileSync(pathOf(name), "utf8")) },
}));

/** The part of the documents of a case that the briefing quotes. */
const quotesEach = scorer<readonly string[], string>("quotes each", ({ input, output }) => {
  const quoted = new Set(quotationsIn(output).map(({ source }) => source));
  return input.filter((name) => quoted.has(name)).length / input.length;
});

describe("an evaluation of the briefing example", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  const evaluated = (
    onMiss: "live" | "fail",
    baseline?: EvaluationResult,
  ): Promise<EvaluationResult> => {
    const recorded = recordings(join(folder, "responses.jsonl"), { onMiss });
    return evaluate({
      name: "briefing",
      target: async (names: readonly string[], context) => {
        const { ensemble, briefing } = briefingTeam(
          names.map((name) => ({ name, path: pathOf(name) })),
          {
            model: offline("extractive", { sentences: 4 }),
            traceFile: join(folder, `${context.caseId}.json`),
            progress: { stream: { write: () => true } },
            plugins: [recorded],
          },
        );
        try {
          return (await context.run(ensemble)).getOutput(briefing)?.raw ?? "";
        } finally {
          await ensemble.dispose();
        }
      },
      dataset,
      scorers: [grounded(), quotesEach],
      baseline,
    });
  };

  it("finds each quotation in its source and each document quoted, also from recordings without a model", async () => {
    const first = await evaluated("live");
    expect(first.problems).to.deep.equal([]);
    expect(first.scores.map(({ scorer: name, mean }) => [name, mean])).to.deep.equal([
      ["grounded", 1],
      ["quotes each", 1],
    ]);
    const again = await evaluated("fail", first);
    expect(again.problems).to.deep.equal([]);
    expect(again.spending.target).to.include({ calls: 0, answered: first.spending.target.calls });
    expect(again.comparison?.scorers.map(({ difference }) => difference)).to.deep.equal([0, 0]);
    const outputs = ({ cases }: EvaluationResult): unknown =>
      cases.map(({ trials }) => trials.map(({ output }) => output));
    expect(outputs(again)).to.deep.equal(outputs(first));
  });
});
