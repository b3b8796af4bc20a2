import { expect } from "chai";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectRoot } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface BuildStamp {
  isBuilt(root: string): boolean;
  stampBuild(root: string): void;
}

const { isBuilt, stampBuild } = (await import(
  pathToFileURL(join(projectRoot, "scripts/build-stamp.mjs")).href
)) as BuildStamp; // scripts have no declarations

describe("the build", () => {
  let root: string;
  const write = (file: string, text: string): void => writeFileSync(join(root, file), text);
  const remove = (file: string): void => rmSync(join(root, file));

  beforeEach(() => {
    root = temporaryFolder();
    for (const folder of ["src", "dist/src"]) mkdirSync(join(root, folder), { recursive: true });
    write("package.json", "{}");
    write("src/a.ts", "export const a = 1;");
    write("dist/src/a.js", "export const a = 1;");
    stampBuild(root);
  });

  it("is skipped when no source and no output has changed", () => {
    expect(isBuilt(root)).to.equal(true);
  });

  const changes: Readonly<Record<string, () => void>> = {
    "a source has other text": () => write("src/a.ts", "export const a = 12;"),
    "a source has another time": () => utimesSync(join(root, "src/a.ts"), 1, 1),
    "a source is new": () => write("src/b.ts", ""),
    "a source is gone": () => remove("src/a.ts"),
    "the package file has changed": () => write("package.json", '{ "type": "module" }'),
    "an output has other text": () => write("dist/src/a.js", ""),
    "an output is gone": () => remove("dist/src/a.js"),
    "the stamp is gone": () => remove("dist/.stamp"),
  };
  for (const [change, apply] of Object.entries(changes))
    it(`runs when ${change}`, () => {
      apply();
      expect(isBuilt(root)).to.equal(false);
    });
});
