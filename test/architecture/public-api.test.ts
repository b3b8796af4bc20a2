import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { projectRoot, readProjectFile } from "../support/project.js";

describe("the entry points", () => {
  it("export the names in test/architecture/public-api.json (npm run public-api rewrites it)", () => {
    const script = ["scripts/update-public-api.mjs", "--print"];
    const actual = execFileSync(process.execPath, script, {
      cwd: projectRoot,
      encoding: "utf8",
      stdio: "pipe",
    });
    expect(JSON.parse(actual)).to.deep.equal(
      JSON.parse(readProjectFile("test/architecture/public-api.json")),
    );
  });
});
