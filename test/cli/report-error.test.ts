import { Ensemble, Task } from "agentensemble";
import { expect } from "chai";
import { errorJson } from "../../src/cli/report-error.js";
import { failure } from "../support/kernel-fixtures.js";

describe("the error of the command line", () => {
  it("names the inputs that are missing, and the ways to keep foreign text literal", async () => {
    const ticket = "The parcel\nof {order_1} is late";
    const ensemble = new Ensemble({
      tasks: [new Task({ description: `Triage: ${ticket}`, handler: () => "x" })],
    });
    const error = await failure(ensemble.run());
    expect(errorJson(error)["hints"]).to.deep.equal([
      "Give them as --input order_1=...",
      "For text from outside write prompt`...${text}...`, or set template: false on the task.",
    ]);
  });
});
