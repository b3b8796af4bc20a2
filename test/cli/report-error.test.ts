import {
  AgentEnsembleError,
  AgentExecutionError,
  Ensemble,
  ModelCallError,
  Task,
  ValidationError,
} from "agentensemble";
import { connectRuns } from "agentensemble/durability";
import { expect } from "chai";
import { errorJson, errorText } from "../../src/cli/report-error.js";
import type { OutputTerminal } from "../../src/cli/terminal.js";
import { failure } from "../support/kernel-fixtures.js";

describe("the error of the command line", () => {
  it("names the missing inputs, and how to keep foreign text literal", async () => {
    const ticket = "The parcel\nof {order_1} is late";
    const ensemble = new Ensemble({
      tasks: [new Task({ description: `Triage: ${ticket}`, handler: () => "x" })],
    });
    const error = await failure(ensemble.run());
    expect(errorJson(error)["hints"]).to.deep.equal([
      "Give them as --input order_1=...",
      "For text from outside write prompt`...${text}...`, or set template: false on the task.",
    ]);
    expect(errorJson(error)["docs"]).to.equal(
      "https://agentensemble.net/errors/AE_PROMPT_TEMPLATE.html",
    );
  });

  it("shows the possible addresses of a store", async () => {
    expect(errorJson(await failure(connectRuns("redis://host")))["hints"]).to.deep.equal([
      "Use file:<folder>, pglite:<folder> or postgres://host:5432/database.",
    ]);
  });

  it("names the page about the code of the root error, if the page has more details", () => {
    const key = new ModelCallError("no key", {
      ...{ provider: "openai", modelId: "m" },
      code: "AE_MODEL_AUTH",
    });
    const details = { agentRole: "a", taskDescription: "t" };
    const task = new AgentExecutionError("failed", details, { cause: key });
    const paintMessage = (_color: unknown, text: string): string => text;
    const terminal = { paintMessage, verbose: false } as unknown as OutputTerminal; // all that is read
    expect(errorText(task, terminal)).to.equal(
      "error AE_AGENT_EXECUTION: failed\n  because: no key\n" +
        "  docs: https://agentensemble.net/errors/AE_MODEL_AUTH.html",
    );
    for (const error of [
      new ValidationError("wrong"),
      new Error("other"),
      new AgentEnsembleError("ACME_1", "of a plugin"),
    ])
      expect(errorJson(error)["docs"], String(error)).to.equal(null);
  });
});
