import type { Command } from "commander";
import { expect } from "chai";
import { Ensemble, ValidationError } from "agentensemble";
import { join } from "node:path";
import { ensembleNamed } from "../../src/cli/load-program.js";
import { networkStoreAt } from "../../src/cli/network-store.js";
import { commandLine } from "../../src/cli/program.js";
import { OutputTerminal } from "../../src/cli/terminal.js";
import { defineProgram } from "../../src/ensemble/define-program.js";
import { readProjectFile } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The commands without subcommands, each with its path. */
function leavesOf(command: Command, path: readonly string[] = []): (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

const helpOf = (): Command => commandLine(new OutputTerminal(false), () => undefined);

describe("the commands", () => {
  const leaves = leavesOf(helpOf());

  it("have descriptions, for commands and options", () => {
    expect(leaves.map(([path]) => path)).to.include.members(["run", "trace show", "queue redrive"]);
    for (const [path, command] of leaves) {
      expect(command.description(), path).to.not.equal("");
      for (const { flags, description } of command.options)
        expect(description, `${path} ${flags}`).to.not.equal("");
    }
  });

  it("are all documented in docs/command-line.md", () => {
    const page = readProjectFile("docs/command-line.md");
    const missing = leaves.filter(([path]) => {
      const [group = "", name] = path.split(" ");
      return name === undefined
        ? !page.includes(`\`${group} `) && !page.includes(`\`${group}\``)
        : !page.includes(`\`${path}`) && !new RegExp(`\`${group} [^|]*\`${name}\``).test(page);
    });
    expect(missing.map(([path]) => path)).to.deep.equal([]);
  });
});

describe("the URL of a store for requests", () => {
  it("describes the place of the stored runs, and whether processes share it", () => {
    const placeOf = (url: string): readonly unknown[] => {
      const { isShared, journal } = networkStoreAt(url);
      return [isShared, journal];
    };
    expect(placeOf("file:/data")).to.deep.equal([false, "file:/data"]);
    expect(placeOf("file:/data/.agentensemble")).to.deep.equal([
      false,
      "file:/data/.agentensemble/runs",
    ]);
    expect(placeOf("pglite:/data")).to.deep.equal([false, "pglite:/data"]);
    for (const url of ["postgres://h/d", "postgresql://h/d"])
      expect(placeOf(url)).to.deep.equal([true, url]);
    for (const url of ["redis://h", "rediss://h", "nats://h"])
      expect(placeOf(url)).to.deep.equal([true, undefined]);
  });

  it("opens a backend without a connection before the first call", async () => {
    for (const url of [
      `file:${join(temporaryFolder(), "work")}`,
      `file:${join(temporaryFolder(), ".agentensemble")}`,
      "postgres://127.0.0.1:1/none",
      "redis://127.0.0.1:1",
      "nats://127.0.0.1:1",
    ]) {
      const backend = await networkStoreAt(url).open();
      expect(backend.queue.enqueue, url).to.be.a("function");
      await backend.close();
    }
  });

  it("is refused in other forms, without its password", () => {
    for (const [url, found] of [
      ["/work", "an address without a scheme"],
      ["mysql://user:hunter22@h/d", "mysql:"],
      ["file: ", "file:"],
    ] as const)
      expect(() => networkStoreAt(url), url)
        .to.throw(ValidationError)
        .with.property("message")
        .that.includes(found)
        .and.does.not.include("hunter22");
  });
});

describe("a program of ensembles", () => {
  const desk = new Ensemble({ name: "desk" });

  it("returns its ensembles by name", () => {
    const program = defineProgram({
      name: "office",
      ensembles: { desk, archive: new Ensemble({}) },
    });
    expect(Object.keys(program.ensembles)).to.deep.equal(["desk", "archive"]);
    expect(Object.isFrozen(program.ensembles)).to.equal(true);
  });

  it("is refused with an ensemble of another name, without ensembles, and with other values", () => {
    for (const [options, message] of [
      [{ name: "a b", ensembles: { desk } }, "letters, digits"],
      [{ name: "office", ensembles: {} }, "at least one ensemble"],
      [{ name: "office", ensembles: { "a b": desk } }, "key of ensembles"],
      [{ name: "office", ensembles: { table: desk } }, "ensembles.table has the name"],
      [{ name: "office", ensembles: { desk: {} as Ensemble } }, "must be an Ensemble"],
    ] as const)
      expect(() => defineProgram(options), message)
        .to.throw(ValidationError)
        .with.property("message")
        .that.includes(message);
  });

  it("returns its only ensemble, or the ensemble with the given name", () => {
    const both = [desk, new Ensemble({ name: "archive" })] as never;
    expect(ensembleNamed([desk] as never, undefined)).to.equal(desk);
    expect(ensembleNamed(both, "desk")).to.equal(desk);
    expect(() => ensembleNamed(both, undefined)).to.throw(ValidationError, "several ensembles");
    expect(() => ensembleNamed(both, "shelf")).to.throw(ValidationError, "no ensemble with");
  });
});
