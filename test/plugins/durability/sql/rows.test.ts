import { expect } from "chai";
import { JournalError } from "../../../../src/contracts/journal-errors.js";
import {
  entryColumns,
  entryFrom,
  reviewFrom,
  runFrom,
} from "../../../../src/plugins/durability/shared/sql/rows.js";

describe("rows of a journal", () => {
  it("yield an entry without the fields that their columns lack", () => {
    expect(entryFrom({ value: "1", execution: "2" })).to.deep.equal({
      ...{ key: "", kind: undefined, task: "", value: 1, at: "", execution: 2 },
    });
    const row = { key: "k", kind: "tool", task: "t", hash: "h", covers: "true", value: "null" };
    expect(entryFrom({ ...row, full_key: null })).to.include({ key: "k", hash: "h", covers: true });
  });

  it("hold a long key in a separate column", () => {
    const key = "k".repeat(600);
    const columns = entryColumns({ key, kind: "tool", task: "t", value: 1 } as never);
    expect(columns).to.include({ fullKey: key, hash: "", covers: "false" });
    expect(columns.key).to.have.length.below(100);
  });

  it("yield a run without the fields that their columns lack", () => {
    expect(runFrom({ inputs: "{}", tags: "[]", executions: "0" })).to.deep.include({
      ...{ runId: "", ensemble: "", inputs: {}, inputsHash: "", tags: {} },
      ...{ startedAt: "", updatedAt: "", executions: 0 },
    });
    const named = { run_id: "r", parent_run_id: "p", owner: null, tags: '["[\\"a\\",\\"b\\"]"]' };
    const run = runFrom({ ...named, inputs: "1", result: '{"output":1}' });
    expect(run).to.deep.include({ parentRunId: "p", tags: { a: "b" }, result: { output: 1 } });
    expect(run).to.not.have.property("owner");
  });

  it("are refused if this version cannot read them", () => {
    expect(() => runFrom({ run_id: "r" })).to.throw(JournalError, "Run 'r' cannot be read:");
    expect(() => entryFrom({ key: "k", value: "{" })).to.throw("The entry 'k' cannot be read:");
    expect(() => reviewFrom({ review_id: "v", request: null })).to.throw("Review 'v' cannot be");
  });
});
