import type { RunRecord } from "agentensemble";
import { Ensemble, Loop, Task, Tokens, definePlugin } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { recordedTraceBuilder } from "../../src/plugins/observability/trace/recorded-trace.js";

describe("the output of a run", () => {
  it("has the totals of the record that its trace builder reads, computed once", async () => {
    const records: RunRecord[] = [];
    const building = definePlugin({
      name: "building",
      bind: ({ single }) =>
        single(Tokens.TraceBuilder).toConstantValue({
          build: (record) => (records.push(record), recordedTraceBuilder.build(record)),
        }),
    });
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["first", "second"]),
      plugins: [building],
      tasks: [Task.of("Begin"), Task.of("End")],
    });
    const output = await ensemble.run();
    const { metrics } = output.trace;
    expect(records).to.have.length(1);
    expect(records[0]?.metrics).to.equal(metrics);
    expect(output.metrics).to.equal(metrics);
    expect(metrics.llmCallCount).to.equal(2);
    expect(metrics.tasks.map(({ taskId }) => taskId)).to.deep.equal(["task-1", "task-2"]);
  });

  it("has the last output of a task whose later attempt failed, and none of another task", async () => {
    let drafts = 0;
    const draft = new Task({
      description: "Draft",
      handler: () => {
        if (++drafts > 1) throw new Error("no ink left");
        return "draft 1";
      },
    });
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["published"]),
      loops: [new Loop({ name: "writing", tasks: [draft], maxIterations: 3 })],
      tasks: [Task.of("Publish")],
    });
    const output = await ensemble.run({}, { throwOnError: false });
    expect(output.exitReason).to.equal("ERROR");
    expect(output.getOutput(draft)?.raw).to.equal("draft 1");
    expect(output.getOutput(Task.of("Draft"))).to.equal(undefined);
  });
});
