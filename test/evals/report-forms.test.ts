import {
  htmlReport,
  junitReport,
  markdownReport,
  textReport,
  type EvaluationResult,
} from "agentensemble/evals";
import { expect } from "chai";
import { resultOf } from "./results.js";

type Changes = { -readonly [K in keyof EvaluationResult]?: EvaluationResult[K] };
type Trial = EvaluationResult["cases"][number]["trials"][number];

const INTERVAL = { low: 0.2, high: 0.8, confidence: 0.9, method: "bootstrap" } as const;
const COMPARED = {
  ...{ scorer: "s", pairs: 9, baselineMean: 0.1, interval: INTERVAL },
  ...{ better: ["case-0"], worse: [], verdict: "better" as const },
};

function changed(n: number, changes: Changes = {}): EvaluationResult {
  return { ...resultOf(n, () => 1), ...changes };
}

/** A result of one case whose only trial has these fields. */
function ofTrial(trial: Partial<Trial>, changes: Changes = {}): EvaluationResult {
  const made = changed(1);
  const cases = made.cases.map((one) => ({
    ...one,
    trials: one.trials.map((first) => ({ ...first, ...trial })),
  }));
  return { ...made, cases, ...changes };
}

function way(changes: Partial<Trial["way"]>): Trial["way"] {
  const [first] = changed(1).cases[0]?.trials ?? [];
  return { ...(first as Trial).way, ...changes };
}

const summary = (changes: object): EvaluationResult["scores"] =>
  changed(1).scores.map((one) => ({ ...one, ...changes }));

describe("reports of an evaluation without cases", () => {
  const empty = changed(0);

  it("have no sections of failures, problems and comparisons", async () => {
    for (const text of [textReport(empty), markdownReport(empty), await htmlReport(empty)]) {
      expect(text).to.contain("0 cases, version 000000000000");
      expect(text).to.not.match(/do not pass:|Problems:|Compared|paid|pass@/);
    }
    expect(junitReport(empty)).to.contain('<testsuite name="s" tests="0" failures="0" errors="0">');
  });

  it("show - for a missing mean and interval", () => {
    expect(textReport(empty)).to.match(/s +0 +- +- +- +0/);
    expect(textReport(empty)).to.contain("95 %");
    expect(markdownReport(empty)).to.contain("| s | - | - | - | 0 |");
  });
});

describe("reports of an evaluation with a baseline of another version of the dataset", () => {
  const datasetChanges = {
    hash: "ab".repeat(32),
    added: ["new one"],
    removed: ["case-2"],
    changed: ["case-1"],
  };
  const comparison = {
    baseline: { name: "before", startedAt: "2026-01-01T00:00:00.000Z" },
    scorers: [],
    verdict: "not enough data" as const,
    datasetChanges,
  };
  const result = changed(2, { comparison });
  const before = changed(3);
  const baseline = {
    ...before,
    cases: before.cases.map((one) => ({ ...one, input: `before ${one.id}`, expected: "old" })),
  };
  const now = { ...result, cases: result.cases.map((one) => ({ ...one, expected: "now" })) };

  it("name the cases that were added, removed and changed", async () => {
    const head =
      "of the dataset since version abababababab: 1 added (new one), 1 removed (case-2), 1 changed (case-1); they are not compared";
    expect(textReport(result)).to.contain(head);
    const markdown = markdownReport(result);
    expect(markdown).to.contain(
      "### Changes of the dataset\n\n- added: new one\n- removed: case-2\n- changed: case-1\n",
    );
    const page = await htmlReport(now, { baseline });
    expect(page).to.contain("<h2>Changes of the dataset</h2>");
    expect(page).to.contain("<summary>removed: 1</summary><ul><li>case-2<pre>before case-2</pre>");
    expect(page).to.contain("<del>-before case-1</del><ins>+1</ins>");
    expect(page).to.contain("<del>-old</del><ins>+now</ins>");
  });

  it("shorten long lists", () => {
    const added = Array.from({ length: 25 }, (_, n) => `c${n}`);
    const many = { ...comparison, datasetChanges: { ...datasetChanges, added } };
    expect(markdownReport(changed(1, { comparison: many }))).to.contain("c19 and 5 more\n");
  });

  it("have no such section for the same version", async () => {
    const same = changed(1, { comparison: { ...comparison, datasetChanges: undefined } });
    for (const text of [textReport(same), markdownReport(same), await htmlReport(same)])
      expect(text.toLowerCase()).to.not.contain("changes");
  });
});

describe("the head of reports", () => {
  it("names the dataset, the selected part, and the costs", () => {
    const spending = { calls: 2, answered: 1, inputTokens: 3, outputTokens: 4 };
    const [target, judges] = [{ ...spending, cost: 0.5 }, spending];
    const dataset = { name: "rivers", hash: "a".repeat(64), cases: 9, selected: 3 };
    const text = textReport(changed(3, { dataset, spending: { target, judges } }));
    expect(text).to.contain("3 of 9 cases of rivers, version aaaaaaaaaaaa");
    expect(text).to.contain("0.500000 paid, 0.000000 recorded");
    const recorded = { target: { ...spending, recordedCost: 0.25 }, judges };
    expect(textReport(changed(3, { spending: recorded }))).to.contain(
      "0.000000 paid, 0.250000 recorded",
    );
  });
});

describe("reports of a comparison", () => {
  const of = (part: object, verdict: "better" | "worse" = "better"): EvaluationResult => {
    const scorers = [{ ...COMPARED, difference: 0.25, signTest: 0.0001, ...part }];
    const baseline = { name: "old", startedAt: "2025-12-01" };
    return changed(2, { comparison: { baseline, scorers, verdict } });
  };

  it("show signs, small probabilities and the detectable difference", async () => {
    const better = of({ detectableDifference: 0.125 });
    expect(textReport(better)).to.match(/\+25\.0 % .*< 0\.001 +12\.5 % +better/);
    expect(markdownReport(better)).to.contain("### Compared with old: better");
    const page = await htmlReport(better);
    expect(page).to.contain('<b class="good">better</b>');
    expect(page).to.contain("<td>+25.0 %</td>");
  });

  it("show losses without a plus, and - if no difference is detectable", async () => {
    const worse = of({ difference: -0.5, signTest: 0.25, verdict: "worse" }, "worse");
    expect(textReport(worse)).to.match(/ -50\.0 % .*0\.250 +- +worse/);
    expect(await htmlReport(worse)).to.contain('<b class="bad">worse</b>');
  });
});

describe("reports of many failures and problems", () => {
  const failed = { trial: 1, error: "It broke", scores: {}, way: way({}) };
  const made = changed(25);
  const many = {
    ...made,
    cases: made.cases.map((one) => ({ ...one, trials: [failed] })),
    problems: Array.from({ length: 25 }, (_, i) => ({
      ...{ kind: "target" as const, code: "AE_AGENT_EXECUTION", message: "It broke" },
      ...(i > 0 && { caseId: `case-${i}`, trial: 1, scorer: "s" }),
    })),
    problemCount: 25,
  };

  it("show the first ones and count the others", async () => {
    const text = textReport(many);
    expect(text).to.contain("and 15 more cases");
    expect(text).to.contain("and 15 more problems");
    expect(text).to.contain("! target: It broke");
    expect(text).to.contain("! target (scorer s, case case-1, trial 1): It broke");
    expect(markdownReport(many)).to.contain("and 5 more");
    expect(await htmlReport(many, { maxCases: 2 })).to.contain("23 more cases are not on");
  });

  it("are errors in JUnit, in a separate suite if they belong to no case", () => {
    const text = junitReport(many);
    expect(text).to.contain('tests="26" failures="0" errors="26"');
    expect(text).to.contain('<testsuite name="evaluation" tests="1" failures="0" errors="1">');
    expect(text).to.contain('<error message="target: It broke"/>');
  });
});

describe("the cases of reports", () => {
  it("without a score are skipped, and neither pass nor fail", async () => {
    const skipped = ofTrial({ scores: { s: {} } });
    expect(junitReport(skipped)).to.contain("<skipped/>");
    expect(textReport(skipped)).to.not.contain("do not pass");
    expect(await htmlReport(skipped)).to.contain("<summary>· <b>case-0</b> <span>s -</span>");
  });

  it("name the value if a scorer returned no reason", () => {
    const low = ofTrial({ scores: { s: { value: 0.5, passed: false } } });
    expect(textReport(low)).to.contain("case-0: s is 0.5");
    expect(junitReport(low)).to.contain('<failure message="0.500, passes at 1: s is 0.5"/>');
  });

  it("name the error of a scorer, and no reason of a score that passed", async () => {
    const scores = { s: { error: "no answer" }, t: { value: 1, passed: true, reason: "fine" } };
    const both = [...summary({}), ...summary({ scorer: "t" })];
    const text = textReport(ofTrial({ scores }, { scores: both }));
    expect(text).to.contain("case-0: no answer\n");
    const page = await htmlReport(ofTrial({ scores }, { scores: both }));
    expect(page).to.contain('<li class="bad">s: no answer</li>');
    expect(page).to.contain('<li class="">t: 100.0 % – fine</li>');
  });

  it("show no reason of a failed score if the scorer gave none", () => {
    const silent = ofTrial({ scores: { t: { value: 0, passed: false } } });
    expect(markdownReport(silent)).to.contain("| case-0 | - |  |");
  });
});

describe("the page of an evaluation", () => {
  it("marks scores that rose and fell since the baseline", async () => {
    const [low, high] = [ofTrial({ scores: { s: { value: 0.25 } } }), ofTrial({})];
    expect(await htmlReport(low, { baseline: changed(1) })).to.contain(
      '<b class="bad">-75.0 %</b>',
    );
    expect(await htmlReport(high, { baseline: low })).to.contain('<b class="good">+75.0 %</b>');
    expect(await htmlReport(high, { baseline: changed(0) })).to.not.contain("75.0 %");
  });

  it("marks a case that passes", async () => {
    const page = await htmlReport(ofTrial({ scores: { s: { value: 1, passed: true } } }));
    expect(page).to.contain('<details class="case pass"><summary><b class="good">✓</b>');
  });

  it("draws an interval without a mean, and an interval without width", async () => {
    const scores = summary({ interval: INTERVAL, errors: 2 });
    const page = await htmlReport(changed(1, { scores }));
    expect(page).to.contain('aria-label="20.0 to 80.0 percent"');
    expect(page).to.contain('class="mean" x="0.0"');
    expect(page).to.contain('<b class="bad">2</b>');
    expect(textReport(changed(1, { scores }))).to.contain("90 %");
    const exact = summary({ mean: 1, interval: { ...INTERVAL, low: 1, high: 1 } });
    expect(await htmlReport(changed(1, { scores: exact }))).to.contain('width="0.4"');
  });

  it("names trials and their probabilities if there are several", async () => {
    const scores = summary({ passAtK: [0.5, 0.75], passHatK: [0.5, 0.25] });
    const page = await htmlReport(changed(1, { trials: 2, scores }));
    expect(page).to.contain("<th>pass@2</th><th>pass^2</th>");
    expect(page).to.contain("<td>75.0 %</td><td>25.0 %</td>");
    expect(page).to.contain("<h3>Output of trial 1</h3>");
  });

  it("links traces relative to its folder, and shows evidence", async () => {
    const scores = { s: { value: 1, evidence: { why: "so" } } };
    const page = await htmlReport(ofTrial({ trace: "/tmp/r/traces/a b.json", scores }), {
      path: "/tmp/r/report.html",
    });
    expect(page).to.contain('<a href="./traces/a%20b.json">Trace</a>');
    expect(page).to.contain("<summary>evidence</summary>");
    expect(page).to.contain("why");
  });

  it("shows conversations with calls and results of tools, next to those of the baseline", async () => {
    const conversations = [
      {
        task: "Look",
        messages: [
          { role: "assistant", content: "", toolCalls: [{ name: "look", arguments: "{}" }] },
          { role: "tool", content: "a river", toolName: "look" },
        ],
      },
    ] as const;
    const said = ofTrial({ way: way({ conversations }) });
    const alone = await htmlReport(said);
    expect(alone).to.contain("<h4>Conversation</h4><h5>Look</h5>");
    expect(alone).to.contain('<pre class="call">look({})</pre>');
    expect(alone).to.contain("<b>tool look</b>");
    expect(alone).to.not.contain("In the baseline");
    expect(await htmlReport(said, { baseline: changed(1) })).to.contain("<h4>In the baseline</h4>");
    expect(await htmlReport(ofTrial({}))).to.not.contain("<h4>Conversation</h4>");
  });

  it("shows lines that were kept, removed and added", async () => {
    const [before, now] = [ofTrial({ output: "a\nb\nc" }), ofTrial({ output: "a\nx\nc" })];
    const page = await htmlReport(now, { baseline: before });
    expect(page).to.contain("<span> a</span><del>-b</del><ins>+x</ins><span> c</span>");
    expect(await htmlReport(now, { baseline: now })).to.not.contain("Difference from");
    const broken = ofTrial({ error: "It broke" });
    expect(await htmlReport(now, { baseline: broken })).to.not.contain("Difference from");
    expect(await htmlReport(broken)).to.contain('<p class="bad">It broke</p>');
  });
});
