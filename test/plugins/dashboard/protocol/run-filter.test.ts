import { expect } from "chai";
import fc from "fast-check";
import {
  formatRunFilter,
  parseRunFilter,
  RUN_STATES,
} from "../../../../src/plugins/dashboard/protocol/run-filter.js";

const queryOf = (filter: string): object => {
  const { query, problems } = parseRunFilter(filter);
  expect(problems).to.deep.equal([]);
  return query;
};

describe("the filter of a run list", () => {
  it("reads fields, tags and a text", () => {
    expect(queryOf("state:failed tag:customer=acme heat pump")).to.deep.equal({
      state: "failed",
      tags: { customer: "acme" },
      text: "heat pump",
    });
    expect(queryOf("  heat   tag:a=b=c ensemble:team tag:region=  pump ")).to.deep.equal({
      ensemble: "team",
      tags: { a: "b=c", region: "" },
      text: "heat pump",
    });
    expect(queryOf("")).to.deep.equal({});
  });

  it("keeps quoted text together, and reads no field in it", () => {
    expect(queryOf('ensemble:"heat pumps" tag:customer="A & B" "state:failed  now"')).to.deep.equal(
      {
        ensemble: "heat pumps",
        tags: { customer: "A & B" },
        text: "state:failed  now",
      },
    );
    expect(queryOf('"a \\"b\\" \\\\"')).to.deep.equal({ text: 'a "b" \\' });
    expect(queryOf('"not closed')).to.deep.equal({ text: "not closed" });
    expect(queryOf("http://example.org note:this")).to.deep.equal({
      text: "http://example.org note:this",
    });
  });

  it("reads days and instants; a day as the end is included", () => {
    expect(queryOf("from:2026-01-02 to:2026-01-03")).to.deep.equal({
      from: "2026-01-02T00:00:00.000Z",
      to: "2026-01-03T23:59:59.999Z",
    });
    expect(queryOf("from:2026-01-02T10:00:00+02:00")).to.deep.equal({
      from: "2026-01-02T08:00:00.000Z",
    });
  });

  it("names invalid words, and ignores them", () => {
    const { query, problems } = parseRunFilter(
      "state:faild tag:customer from:soon ensemble: state:done state:done tag:a=1 tag:a=2 words",
    );
    expect(query).to.deep.equal({ state: "done", tags: { a: "1" }, text: "words" });
    expect(problems.map(({ word }) => word)).to.deep.equal([
      "state:faild",
      "tag:customer",
      "from:soon",
      "ensemble:",
      "state:done",
      "tag:a=2",
    ]);
    expect(problems[0]?.message).to.contain("interrupted");
  });

  it("reads every query in the same form as it was written", () => {
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom("heat pump", "state:failed", ' "\\ ', "tag:a=b c"),
    );
    const query = fc.record(
      {
        state: fc.constantFrom(...RUN_STATES),
        ensemble: text,
        tags: fc.dictionary(
          fc.string({ minLength: 1 }).filter((name) => !name.includes("=") && name !== "__proto__"),
          fc.string(),
          { minKeys: 1 },
        ),
        from: fc.constant("2026-01-02T03:04:05.006Z"),
        text,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(query, (given) => {
        expect(queryOf(formatRunFilter(given))).to.deep.equal(
          JSON.parse(JSON.stringify(given)) as object,
        );
      }),
    );
  });
});
