import { MemoryScope, MemoryStore } from "agentensemble/memory";
import { Journal } from "agentensemble/durability";
import { expect } from "chai";
import { keptEnsemble, modelOf, task } from "./kept-team.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** Returns the warnings of two runs with two memory writes each. */
async function warningsOf(journal: Journal, memoryStore: MemoryStore): Promise<string[]> {
  const warnings: string[] = [];
  await using ensemble = keptEnsemble(
    {
      model: modelOf().model,
      memoryStore,
      tasks: ["one", "two"].map((name) => task(name, { memory: [MemoryScope.of("facts")] })),
      on: (event) => event.type === "run_warning" && warnings.push(event.message),
    },
    { journal },
  );
  await ensemble.run();
  await ensemble.run();
  return warnings;
}

describe("a durable run with a memory store in memory", () => {
  it("warns once, and not again in the next run, that a new process does not find the entries", async () => {
    const warnings = await warningsOf(Journal.file(temporaryFolder()), MemoryStore.inMemory());
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.include("Memory scope 'facts'");
  });

  it("does not warn if the journal is also in memory, or the store is on files", async () => {
    expect(await warningsOf(Journal.inMemory(), MemoryStore.inMemory())).to.deep.equal([]);
    const store = MemoryStore.file(`${temporaryFolder()}/facts.jsonl`);
    expect(await warningsOf(Journal.file(temporaryFolder()), store)).to.deep.equal([]);
    await store.close?.();
  });
});
