import type { Ev, Plugin } from "agentensemble";
import { Ensemble, Graph, Phase, Task, Tokens, definePlugin } from "agentensemble";
import { expect } from "chai";
import { echo, runToEnd, tapping, typesOf } from "../support/kernel-fixtures.js";

function binding(dagOf: () => never): Plugin {
  return definePlugin({
    name: "own-diagram",
    bind: (bind) => void bind.single(Tokens.PlanDiagram).toConstantValue({ dagOf }),
  });
}

function plannedOf(events: readonly { readonly type: string }[]): Ev<"run_planned"> | undefined {
  return events.find((event): event is Ev<"run_planned"> => event.type === "run_planned");
}

describe("the event run_planned", () => {
  it("follows ensemble_started, and contains name, inputs, tags and the edges of the plan", async () => {
    const a = new Task({ name: "notes", description: "Notes about {topic}", handler: () => "n" });
    const b = new Task({ name: "memo", description: "Memo", context: [a], handler: () => "m" });
    const { events } = await runToEnd(
      { name: "briefing-1", description: "Writes memos", tasks: [a, b], inputs: { topic: "x" } },
      { tags: { customer: "acme" } },
      { topic: "rivers" },
    );
    expect(typesOf(events).slice(0, 3)).to.deep.equal([
      "ensemble_started",
      "run_planned",
      "task_started",
    ]);
    const planned = plannedOf(events);
    expect(planned?.ensemble).to.deep.equal({ name: "briefing-1", description: "Writes memos" });
    expect(planned?.inputs).to.deep.equal({ topic: "rivers" });
    expect(planned?.tags).to.deep.equal({ customer: "acme" });
    expect(planned?.dag).to.include({ workflow: "PARALLEL", schemaVersion: "1.3" });
    expect(
      planned?.dag?.tasks.map(({ id, description, dependsOn }) => [id, description, dependsOn]),
    ).to.deep.equal([
      ["notes", "Notes about rivers", []],
      ["memo", "Memo", ["notes"]],
    ]);
  });

  it("equals toDag() for a team without templates: tasks, phases and graphs", async () => {
    const states = { a: echo("a"), b: echo("b") };
    const teams = [
      () => ({ tasks: [echo("a"), echo("b")] }),
      () => ({ phases: [new Phase({ name: "first", tasks: [echo("a")] })] }),
      () => ({
        graph: new Graph({
          name: "g",
          states,
          start: "a",
          edges: [
            { from: "a", to: "b" },
            { from: "b", to: Graph.END },
          ],
        }),
      }),
    ];
    for (const team of teams) {
      const options = team();
      const { events } = await runToEnd(options);
      expect(plannedOf(events)?.dag).to.deep.equal(new Ensemble(options).toDag());
    }
  });

  it("omits unset values, and the dag if the plan can't be drawn", async () => {
    const plugin = binding(() => {
      throw new Error("no ink");
    });
    const { events, output } = await runToEnd({ tasks: [echo("a")], plugins: [plugin] });
    expect(output.exitReason).to.equal("COMPLETED");
    const planned = plannedOf(events);
    expect(planned?.ensemble).to.deep.equal({});
    expect(planned).to.not.have.property("dag");
    const warnings = events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []));
    expect(warnings).to.deep.equal(["The plan can't be drawn: no ink"]);
  });

  it("builds no diagram without a listener", async () => {
    let drawn = 0;
    const counting = binding(() => {
      drawn++;
      throw new Error("not asked for");
    });
    const watch = tapping("watch", ({ events }) => {
      events.on(() => undefined, { only: ["task_started"] });
    });
    const ensemble = new Ensemble({ tasks: [echo("a")], plugins: [counting, watch] });
    await ensemble.run();
    expect(drawn).to.equal(0);
    await ensemble.dispose();
  });
});

describe("the name of an ensemble", () => {
  it("has 1 to 64 letters, digits, - and _", () => {
    for (const name of ["a", "Team_2-b", "x".repeat(64)])
      expect(() => new Ensemble({ name, tasks: [echo("a")] })).to.not.throw();
    for (const name of ["", "x".repeat(65), "a b", "ä", "a/b", 7 as never])
      expect(() => new Ensemble({ name, tasks: [echo("a")] })).to.throw("Ensemble name must be");
    expect(() => new Ensemble({ description: " ", tasks: [echo("a")] })).to.throw("description");
  });
});
