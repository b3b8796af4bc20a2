import { expect } from "chai";
import { importOptional } from "../../src/util/import-optional.js";
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
