import { expect } from "chai";
import { errorWords } from "../../../page/src/lib/api-words.js";
import { ApiError } from "../../../page/src/api.js";
import {
  changeOf,
  countsText,
  figureRows,
  outputText,
  promptText,
  sinceBaseline,
  toolText,
} from "../../../page/src/lib/compare-words.js";
import {
  filterParts,
  runsPath,
  sumsOf,
  withState,
  withTag,
} from "../../../page/src/lib/run-search.js";
import { summaryOf } from "../../plugins/dashboard/stores/summaries.js";

const COUNTS = { same: 4, changed: 2, added: 1, removed: 1 };

describe("words of a comparison", () => {
  it("are changes in percent, and of counts as a number", () => {
    expect(changeOf(100, 77)).to.equal("−23 %");
    expect(changeOf(2, 5, true)).to.equal("+3");
    expect(changeOf(0, 5)).to.equal("new");
    expect(changeOf(5, 5)).to.equal("");
    expect(changeOf(10_000, 10_001)).to.equal("");
  });

  it("omit values that are missing on one side, and sums in two currencies", () => {
    const a = { durationMs: 1_000, inputTokens: 5, outputTokens: 5, cost: 1, calls: 1, tools: 0 };
    const rows = figureRows(a, { ...a, cost: 2, calls: 3 }, ["USD", "EUR"]);
    expect(rows.map(({ name, change }) => [name, change])).to.deep.equal([
      ["time", ""],
      ["tokens", ""],
      ["cost", ""],
      ["model calls", "+2"],
      ["tool calls", ""],
    ]);
    expect(figureRows(undefined, a, [undefined, undefined])[0]).to.include({ a: "", b: "1.0 s" });
  });

  it("count tasks by outcome", () => {
    expect(countsText(COUNTS)).to.equal("4 same, 1 only in A, 1 only in B, 2 changed");
    expect(sinceBaseline(COUNTS)).to.equal("4 changed");
    expect(sinceBaseline({ ...COUNTS, changed: 0, added: 0, removed: 0 })).to.equal(
      "as the baseline",
    );
    expect([outputText(undefined), promptText(undefined), toolText(undefined)].join("")).to.equal(
      "",
    );
  });
});

describe("filter of the runs", () => {
  it("is requested with its tags and dates", () => {
    const query = { state: "failed", tags: { customer: "a b" }, text: "heat pump" };
    expect(runsPath(query, 5, "x")).to.equal(
      "/api/runs?limit=5&before=x&state=failed&text=heat+pump&tag=customer%3Aa+b",
    );
  });

  it("has parts that are removed, and states and tags that are added", () => {
    const filter = "state:failed tag:customer=acme from:2026-01-31 heat";
    expect(filterParts(filter).map(({ name }) => name)).to.have.members([
      "state: failed",
      "from: 2026-01-31",
      "customer=acme",
    ]);
    const tag = filterParts(filter).find(({ name }) => name === "customer=acme");
    expect(tag?.without).not.to.contain("acme");
    expect(withState("state:failed heat", undefined)).to.equal("heat");
    expect(withTag("heat", "a", "b c")).to.equal('tag:"a=b c" heat');
  });

  it("sums runs by currency and state if the program does not", () => {
    const totals = { ...summaryOf("a").totals, cost: 1, inputTokens: 2 };
    const sums = sumsOf([
      summaryOf("a", { totals: { ...totals, currency: "USD" } }),
      summaryOf("b", { totals: { ...totals, currency: "USD" }, state: "failed" }),
      summaryOf("c", { totals }),
    ]);
    expect(sums).to.deep.include({ inputTokens: 6, cost: { USD: 2, "": 1 } });
    expect(sums.states).to.deep.equal({ done: 2, failed: 1 });
  });
});

describe("words of refused requests", () => {
  it("come from the page for frequent refusals, otherwise from the program", () => {
    expect(errorWords(new ApiError(404, { error: "RUN_NOT_FOUND" }))).to.contain("no such run");
    expect(errorWords(new ApiError(409, { error: "OTHER", message: "No", hint: "Yes" }))).to.equal(
      "No. Yes",
    );
    expect(errorWords(new ApiError(502, {}))).to.equal("The server answered 502");
  });
});
