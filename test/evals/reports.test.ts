import {
  evaluate,
  evaluationJson,
  exact,
  htmlReport,
  junitReport,
  markdownReport,
  scorer,
  textReport,
  type EvaluationResult,
} from "agentensemble/evals";
import { expect } from "chai";

const ATTACK =
  "</pre><script>alert(1)</script><img src=x onerror=alert(2)> | [a](javascript:b) `c` \u0007";

async function results(): Promise<{
  readonly before: EvaluationResult;
  readonly after: EvaluationResult;
}> {
  const of = (shift: number, baseline?: EvaluationResult): Promise<EvaluationResult> =>
    evaluate({
      name: `rivers & <co>`,
      target: (i: number) => (i % 3 === shift ? ATTACK : `value ${i}`),
      dataset: Array.from({ length: 24 }, (_, i) => ({
        ...{ id: `case <${i}>`, input: i, expected: `value ${i}` },
      })),
      scorers: [
        exact(),
        scorer("odd", ({ input }) => {
          if (Number(input) === 5) throw new Error("it has <b>no</b> score");
          return { value: 1, reason: ATTACK };
        }),
      ],
      trials: 2,
      baseline,
    });
  const before = await of(4);
  return { before, after: await of(0, before) };
}

describe("reports of an evaluation", () => {
  let earlier: EvaluationResult;
  let after: EvaluationResult;
  before(async () => {
    ({ before: earlier, after } = await results());
  });

  it("are a table for a terminal, without control characters", () => {
    const text = textReport(after);
    for (const part of [
      "exact",
      "66.7 %",
      "worse",
      "pass^2",
      "Cases that do not pass:",
      "2 problems",
    ])
      expect(text).to.contain(part);
    expect(text).to.not.contain("\u0007");
    expect(textReport(after, { colour: true })).to.contain("\u001b[");
  });

  it("are Markdown in which texts of models are not markup", () => {
    const text = markdownReport(after);
    expect(text).to.contain("| exact | 66.7 % |");
    expect(text).to.contain(": worse");
    expect(text).to.not.match(/<script|<img|\[a\]\(|<12>/);
  });

  it("are JUnit XML with failures, errors and no forbidden character", () => {
    const text = junitReport(after);
    expect(text).to.match(
      /<testsuites name="rivers &amp; &lt;co&gt;" tests="48" failures="8" errors="1"/,
    );
    expect(text).to.contain("it has &lt;b&gt;no&lt;/b&gt; score");
    expect(text).to.not.contain("\u0007");
    expect((text.match(/<testcase /g) ?? []).length).to.equal(48);
  });

  it("include one page without scripts and requests, with both conversations", async () => {
    const page = await htmlReport(after, { baseline: earlier });
    expect(page).to.not.match(/<script|<img|<link|url\(|@import/);
    expect(page).to.contain("default-src 'none'");
    expect(page).to.contain("prefers-color-scheme:dark");
    expect(page).to.contain("Difference from the expected value");
    expect(page).to.contain("Difference from the baseline");
    expect(page.match(/<details class="case/g)?.length).to.equal(24);
    expect(
      (await htmlReport(after, { maxCases: 3 })).match(/<details class="case/g)?.length,
    ).to.equal(3);
  });

  it("are JSON of any output, which can be used as a baseline", async () => {
    const value: Record<string, unknown> = { n: 1n, when: new Date(0), all: new Set([1]) };
    value["self"] = value;
    const of = (baseline?: EvaluationResult): Promise<EvaluationResult> =>
      evaluate({
        name: "j",
        target: () => 1,
        dataset: [{ input: 1 }],
        scorers: [scorer("s", () => ({ value: 1, evidence: value }))],
        baseline,
      });
    const text = evaluationJson(await of());
    const parsed = JSON.parse(text) as EvaluationResult;
    expect(parsed.cases[0]?.trials[0]?.scores["s"]?.evidence).to.deep.equal({
      ...{ n: "1", when: "1970-01-01T00:00:00.000Z", all: [1], self: "[Circular]" },
    });
    expect((await of(parsed)).comparison?.verdict).to.equal("not enough data");
  });
});
