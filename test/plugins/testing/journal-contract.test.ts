import { journalContract } from "agentensemble/testing";
import { expect } from "chai";

describe("journalContract", () => {
  it("refuses an option that it does not know", () => {
    expect(() => journalContract("odd", { creates: () => undefined } as never)).to.throw(
      "Did you mean 'create'?",
    );
  });
});
