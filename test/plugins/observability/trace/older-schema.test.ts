import { join } from "node:path";
import { expect } from "chai";
import { Agent, Ensemble, Task, tool } from "../../../../src/index.js";
import { compareTraces } from "../../../../src/cli/trace-diff.js";
import { readTraceFile } from "../../../../src/cli/trace-file.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { replayFrom } from "../../../../src/replay.js";
import { projectRoot } from "../../../support/project.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { traceOf } from "./teams.js";

const older = (name: string): string =>
  join(projectRoot, "test/fixtures/trace-1.1", `${name}.trace.json`);

describe("a trace of schema 1.1", () => {
  it("is shown, with the workers inside their delegations", async () => {
    const view = await readTraceFile(older("delegation"));
    expect(view.tasks.map(({ taskId, outcome }) => [taskId, outcome])).to.deep.equal([
      ["way", "ok"],
    ]);
    expect(view.tasks[0]?.delegations[0]).to.deep.include({ to: "Clerk", workerTaskId: null });
    expect(view.tasks[0]?.delegations[0]?.worker).to.include({ taskId: "way.1" });
  });

  it("can be compared with a trace of schema 1.3", async () => {
    const path = join(temporaryFolder(), "new.trace.json");
    await (await traceOf("delegation")).save(path);
    const difference = compareTraces(
      await readTraceFile(older("delegation")),
      await readTraceFile(path),
    );
    expect(difference.different).to.equal(false);
    expect(difference.tasks.map(({ taskId, status }) => [taskId, status])).to.deep.equal([
      ["way", "same"],
    ]);
  });

  it("can be replayed", async () => {
    const unasked = new ScriptedModel([]);
    const search = tool({ name: "search", description: "Searches", execute: () => "asked again" });
    await using ensemble = new Ensemble({
      model: unasked,
      tasks: [
        new Task({
          name: "facts",
          description: "Collect facts about {topic}",
          agent: new Agent({ role: "Researcher", goal: "Find facts", tools: [search] }),
        }),
      ],
      plugins: [replayFrom(older("full"))],
    });
    const output = await ensemble.run({ topic: "swifts" });
    expect(output.raw).to.equal("Swifts sleep in the air.");
    expect(unasked.requests).to.have.lengthOf(0);
  });
});

describe("the agents of a trace", () => {
  it("are listed once per role, for any number of objects", async () => {
    const agents = [1, 2].map(() => new Agent({ role: "Reader", goal: "Read" }));
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["a", "b"]),
      workflow: "SEQUENTIAL",
      tasks: agents.map((agent, i) => new Task({ name: `t${i}`, description: "Read", agent })),
    });
    const { trace } = await ensemble.run();
    expect(trace.agents.map(({ role }) => role)).to.deep.equal(["Reader"]);
  });
});
