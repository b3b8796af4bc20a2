import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { TRACED, goldenOf, goldenPath } from "./golden.js";

describe("golden traces (renew them on purpose: npm run golden)", () => {
  for (const name of TRACED) {
    it(`the trace of ${name} is unchanged`, async () => {
      expect(JSON.parse(await goldenOf(name))).to.deep.equal(
        JSON.parse(await readFile(goldenPath(name), "utf8")),
      );
    });
  }
});
