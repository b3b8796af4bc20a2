import type { EnsembleAccess } from "agentensemble";
import { Ensemble, Kernel, Task, definePlugin } from "agentensemble";
import { expect } from "chai";

describe("plugins and the ensembles of their kernel", () => {
  it("receive each ensemble created on the kernel, with its name", async () => {
    const seen: (string | undefined)[] = [];
    const kernel = new Kernel({
      plugins: [definePlugin({ name: "watcher", attach: ({ name }) => void seen.push(name) })],
    });
    const task = new Task({ description: "Work", handler: () => "done" });
    new Ensemble({ name: "one", tasks: [task], kernel });
    new Ensemble({ tasks: [task], kernel });
    expect(seen).to.deep.equal(["one", undefined]);
    await kernel.dispose();
  });

  it("can run, explain and draw each ensemble", async () => {
    let access: EnsembleAccess | undefined;
    const plugin = definePlugin({
      name: "watcher",
      attach: (ensemble) => void (access = ensemble),
    });
    await using ensemble = new Ensemble({
      tasks: [new Task({ name: "t", description: "Greet {who}", handler: (c) => c.description })],
      plugins: [plugin],
    });
    expect(ensemble.toDag().tasks).to.have.length(1);
    expect(access?.toDag()).to.deep.equal(ensemble.toDag());
    expect((await access?.run({ who: "Ada" }, { runId: "r1" }))?.runId).to.equal("r1");
    expect((await access?.run({ who: "Ada" }))?.raw).to.equal("Greet Ada");
    expect((await access?.explain({ who: "Bo" }))?.tasks[0]?.description).to.equal("Greet Bo");
  });

  it("can run the ensemble again with inputs that the input schema returned", async () => {
    let access: EnsembleAccess | undefined;
    const doubled = {
      schema: {
        "~standard": {
          version: 1 as const,
          vendor: "test",
          validate: (value: unknown) => ({ value: { n: Number((value as { n: number }).n) * 2 } }), // any object
        },
      },
      jsonSchema: { type: "object" },
    };
    await using _ensemble = new Ensemble({
      inputType: doubled,
      tasks: [new Task({ description: "{n}", handler: ({ description }) => description })],
      plugins: [definePlugin({ name: "watcher", attach: (made) => void (access = made) })],
    });
    expect((await access?.run({ n: 2 }))?.raw).to.equal("4");
    expect((await access?.runAgain({ n: 4 }))?.raw).to.equal("4");
  });
});
