import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { evaluationJson, evaluationPanel } from "agentensemble/evals";
import { expect } from "chai";
import { Tokens } from "../../src/contracts/tokens.js";
import { ValidationError } from "../../src/contracts/errors.js";
import { definePlugin } from "../../src/contracts/plugin.js";
import type { DashboardPanel } from "../../src/contracts/dashboard-panel.js";
import { testKernel } from "../../src/testing.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { resultOf } from "./results.js";

/** A result whose first trial is the run `run-1` and failed. */
function resultFile(): string {
  const made = resultOf(2, () => 1);
  const [first, ...others] = made.cases;
  const score = { value: 0, passed: false, reason: "too | long" };
  const trials = (first?.trials ?? []).map((trial) => ({
    ...trial,
    scores: { s: score },
    way: { ...trial.way, runIds: ["run-1"] },
  }));
  const path = join(temporaryFolder(), "result.json");
  const cases = [...(first === undefined ? [] : [{ ...first, trials }]), ...others];
  writeFileSync(path, evaluationJson({ ...made, cases }));
  return path;
}

/** The text of the view of a run. */
async function shownFor(runId: string, files: readonly string[]): Promise<string> {
  let panels: readonly DashboardPanel[] = [];
  const reader = definePlugin({
    name: "reader",
    start: (ctx) => void (panels = ctx.all(Tokens.DashboardPanel)),
  });
  const kernel = testKernel([evaluationPanel(files), reader]);
  await kernel.boot();
  const [panel] = panels;
  expect(panel).to.include({ name: "evaluation", title: "Evaluation", view: "markdown" });
  const text = await panel?.read(runId);
  await kernel.dispose();
  return String(text);
}

describe("evaluationPanel()", () => {
  it("shows the case of a run, and the report of its evaluation", async () => {
    const text = await shownFor("run-1", ["/nowhere.json", resultFile()]);
    expect(text).to.match(/^## Case case-0, trial 1\n/);
    expect(text).to.contain("| s | 0.0 % | too &#124; long |");
    expect(text).to.contain("## Evaluation: made").and.to.contain("### Cases that do not pass: 1");
    expect(text).not.to.contain("nowhere");
  });

  it("shows the reports of all files for another run, and names a file that can't be read", async () => {
    const text = await shownFor("run-9", [resultFile(), "/nowhere.json"]);
    expect(text).to.match(/^## Evaluation: made/);
    expect(text).to.contain("Can't read the evaluation").and.to.contain("nowhere.json");
  });

  it("refuses invalid paths", () => {
    for (const files of [[], [""], "result.json", [1]])
      expect(() => evaluationPanel(files as string[])).to.throw(ValidationError);
  });
});
