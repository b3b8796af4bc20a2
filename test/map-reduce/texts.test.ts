import { expect } from "chai";
import { expectTypeOf } from "expect-type";
import { PromptTemplateError } from "../../src/contracts/errors.js";
import { Task } from "../../src/contracts/task.js";
import { MapReduceEnsemble } from "../../src/map-reduce/map-reduce-ensemble.js";
import { ScriptedModel } from "../../src/testing.js";
import { rejection } from "../support/rejection.js";

describe("texts of a MapReduceEnsemble", () => {
  it("created from items are not templates, and a warning names inputs in them", async () => {
    const warnings: string[] = [];
    const summary = new MapReduceEnsemble({
      items: ["{secret} {other} {{x}}"],
      mapTask: (item) => new Task({ description: `Read ${item}`, handler: () => item }),
      reduceTask: (tasks) => new Task({ description: "Merge", context: tasks, handler: () => "" }),
      on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
    });
    const output = await summary.run({ secret: "s" });
    expect(output.taskOutputs[0]?.taskDescription).to.equal("Read {secret} {other} {{x}}");
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include("{secret}").and.not.include("{other}");
  });

  it("are templates in the short form, except the items in them", async () => {
    const model = new ScriptedModel(() => "ok");
    const output = await MapReduceEnsemble.of(
      model,
      ["{topic} {x}", { a: 1 }],
      "Look at {topic}",
      "Merge for {topic}",
    ).run({ topic: "owls" });
    expect(output.taskOutputs.map(({ taskDescription }) => taskDescription)).to.deep.equal([
      "Look at owls: {topic} {x}",
      'Look at owls: {"a":1}',
      "Merge for owls",
    ]);
    expectTypeOf(output.parsed).toBeString();
  });

  it("of the short form are checked for missing variables before any cost arises", async () => {
    const model = new ScriptedModel([]);
    const error = await rejection(
      MapReduceEnsemble.of(model, ["{x}"], "Look at {topic}", "Merge").run(),
    );
    expect(PromptTemplateError.isInstance(error)).to.equal(true);
    expect(error).to.have.property("missingVariables").that.deep.equals(["topic"]);
    expect(model.requests).to.deep.equal([]);
  });

  it("of the short form are used unchanged if a function returns them", async () => {
    const model = new ScriptedModel(() => "ok");
    const output = await MapReduceEnsemble.of(
      model,
      [{ path: "/users/{id}" }],
      ({ path }) => `Explain ${path}`,
      "Merge",
    ).run({ id: 1 });
    expect(output.taskOutputs[0]?.taskDescription).to.equal("Explain /users/{id}");
  });
});
