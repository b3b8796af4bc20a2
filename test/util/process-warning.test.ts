import { expect } from "chai";
import { once } from "node:events";
import { emitProcessWarning } from "../../src/util/process-warning.js";

describe("emitProcessWarning()", () => {
  it("emits one line without control characters", async () => {
    const warned = once(process, "warning") as Promise<[Error]>;
    emitProcessWarning("The server reports\n\u001b[2J\u009b31mnothing\u202e");
    const [warning] = await warned;
    expect(warning).to.include({
      name: "AgentEnsembleWarning",
      message: "The server reports nothing",
    });
  });
});
