import { expect } from "chai";
import { inMemoryEntities } from "../../../../src/plugins/memory/in-memory/in-memory-entities.js";
import { ValidationError } from "agentensemble";

const missing = undefined as never; // as from plain JavaScript

describe("EntityMemory.inMemory()", () => {
  it("keeps facts by trimmed names, in the order of their first use", () => {
    const entities = inMemoryEntities();
    entities.put(" Acme ", "sells anvils");
    entities.put("Bob", "likes tea");
    entities.put("Acme", "sells rockets");
    expect(entities.get("Acme\n")).to.equal("sells rockets");
    expect([...entities.getAll()]).to.deep.equal([
      ["Acme", "sells rockets"],
      ["Bob", "likes tea"],
    ]);
  });

  it("returns nothing for other names", () => {
    for (const name of ["Acme", "", " ", "constructor", "__proto__", missing])
      expect(inMemoryEntities().get(name)).to.equal(undefined);
  });

  it("keeps names of inherited properties, and empty facts", () => {
    const entities = inMemoryEntities();
    entities.put("__proto__", "a name like others");
    entities.put("Nobody", "");
    expect(entities.get("__proto__")).to.equal("a name like others");
    expect(entities.get("Nobody")).to.equal("");
  });

  it("returns a copy of all facts", () => {
    const entities = inMemoryEntities();
    entities.put("Acme", "sells anvils");
    const all = entities.getAll();
    (all as Map<string, string>).clear(); // read-only by type alone
    entities.put("Bob", "likes tea");
    expect(all.size).to.equal(0);
    expect(entities.getAll().size).to.equal(2);
  });

  it("refuses blank names and missing facts", () => {
    for (const name of ["", " \t", missing]) {
      expect(() => inMemoryEntities().put(name, "a fact")).to.throw(
        ValidationError,
        "entityName must not be null or blank",
      );
    }
    expect(() => inMemoryEntities().put("Acme", missing)).to.throw(
      ValidationError,
      "fact must not be null",
    );
    expect(() => inMemoryEntities().put("Acme", 5 as never)).to.throw(
      ValidationError,
      "fact must be a string, got: 5",
    );
  });
});
