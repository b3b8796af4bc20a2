import type { CaptureModeDefinition, Redactor } from "agentensemble";
import { Ensemble, Tokens, definePlugin } from "agentensemble";
import { expect } from "chai";
import { echo, tapping } from "../support/kernel-fixtures.js";

/** The redactor for an observer of a run with this `redact`. */
async function observerOf(redact: CaptureModeDefinition["redact"]): Promise<Redactor> {
  const found: Redactor[] = [];
  const mode = definePlugin({
    name: "mode",
    bind: (bind) =>
      void bind.many(Tokens.CaptureMode).toConstantValue({
        name: "CAREFUL",
        capturesMessages: false,
        capturesMemory: false,
        parsesToolInput: false,
        ...(redact !== undefined && { redact }),
      }),
  });
  const watch = tapping("watch", ({ events }) => {
    events.on((_, redactor) => void found.push(redactor), { only: ["task_started"] });
  });
  const ensemble = new Ensemble({
    tasks: [echo("a")],
    captureMode: "CAREFUL",
    plugins: [mode, watch],
  });
  await ensemble.run();
  await ensemble.dispose();
  return found[0] ?? expect.fail("no event");
}

describe("the redactor of observers", () => {
  it("applies redact of the run's capture mode, then removes secrets", async () => {
    const redactor = await observerOf((value) =>
      typeof value === "string" ? value.replaceAll("Ada", "[name]") : { changed: value },
    );
    expect(redactor.redactText("Ada: sk-abcdefghijklmnopqrstuvwxyz123456"))
      .to.include("[name]")
      .and.not.include("sk-abcdefghij");
    expect(redactor.redactValue(1)).to.deep.equal({ changed: 1 });
  });

  it("omits the value if redact throws", async () => {
    const redactor = await observerOf(() => {
      throw new Error("broken");
    });
    expect(redactor.redactText("Ada")).to.include("redact function of the capture mode failed");
  });

  it("removes secrets for a capture mode without redact", async () => {
    const redactor = await observerOf(undefined);
    expect(redactor.redactText("Ada")).to.equal("Ada");
  });
});
