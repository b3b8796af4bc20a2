import { expect } from "chai";
import { addressOfOptional, importOptional } from "../../src/util/import-optional.js";
import { rejection } from "../support/rejection.js";

describe("importOptional", () => {
  it("resolves to the module", async () => {
    const { basename } = await importOptional<{ basename(path: string): string }>("node:path");
    expect(basename("a/b")).to.equal("b");
  });

  it("rejects with the loader's error for a package that is not installed", async () => {
    const error = await rejection(importOptional("agentensemble-no-such-package"));
    expect(error).to.have.property("code", "ERR_MODULE_NOT_FOUND");
  });
});

describe("addressOfOptional", () => {
  it("returns a URL that a thread can import", async () => {
    const address = addressOfOptional("chai");
    expect(address).to.match(/^file:.*\/chai\//);
    expect(await import(address)).to.have.property("expect", expect);
  });

  it("throws the loader's error for a package that is not installed", () => {
    expect(() => addressOfOptional("agentensemble-no-such-package"))
      .to.throw()
      .with.property("code", "ERR_MODULE_NOT_FOUND");
  });
});
