import { expect } from "chai";
import type { EnsembleEvent, EventStream, Plugin } from "../../../src/index.js";
import { Ensemble, Task, Tokens, definePlugin } from "../../../src/index.js";
import { redactEvent } from "../../../src/plugins/shared/redact-event.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";

const KEY = "sk-live-3f9a7c51e2d84b60";

describe("events in other outputs", () => {
  const costConfiguration = (): never => {
    throw new Error(`no prices with ${KEY}`);
  };
  const run = async (plugins: readonly Plugin[] = []): Promise<void> => {
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["ok"]),
      tasks: [Task.of(`Use ${KEY}`)],
      costConfiguration,
      plugins,
    });
    await ensemble.run();
  };

  it("are redacted by the redactor of the event's run, without a change of the events", async () => {
    const seen: EnsembleEvent[] = [];
    const shown: EnsembleEvent[] = [];
    const watch = ({ events }: { readonly events: EventStream }): void =>
      void events.on((e, of) => shown.push(redactEvent((seen.push(e), e), of)));
    const filter = (s: string): string => s.replaceAll("Use", "Take");
    await run([
      definePlugin({
        name: "watch",
        bind: (bind) => void bind.many(Tokens.SecretFilter).toConstantValue(filter),
        apply: watch,
      }),
    ]);
    const started = ({ type }: EnsembleEvent): boolean => type === "task_started";
    expect(seen.find(started)).to.include({ taskDescription: `Use ${KEY}` });
    expect(shown.find(started)).to.include({
      taskDescription: "Take [redacted]",
      taskId: "task-1",
      seq: seen.find(started)?.seq,
    });
    expect(shown.map(({ type }) => type)).to.deep.equal(seen.map(({ type }) => type));
  });

  it("include warnings without a listener", async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", onWarning);
    try {
      await run();
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off("warning", onWarning);
    }
    expect(
      warnings.filter((message) => message.includes("no prices with [redacted]")),
    ).to.have.length(1);
    expect(warnings.join()).to.not.include(KEY);
  });
});
