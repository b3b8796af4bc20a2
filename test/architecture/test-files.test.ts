import { expect } from "chai";
import { readProjectFile } from "../support/project.js";

interface FileLookup {
  lookupFiles(pattern: string, extensions: readonly string[], recursive: boolean): string[];
}

const LOOKUP: string = "mocha/lib/cli/lookup-files.js";
const { lookupFiles } = (await import(LOOKUP)) as FileLookup; // the file has no declarations

function filesOf(pattern: string): readonly string[] {
  return lookupFiles(pattern, ["js"], false);
}

describe("npm test", () => {
  it("runs each test file once, first the files that mostly wait", () => {
    const { scripts } = JSON.parse(readProjectFile("package.json")) as {
      readonly scripts: { readonly test: string };
    };
    const patterns = [...scripts.test.matchAll(/'([^']+)'/g)].map(([, pattern = ""]) => pattern);
    expect(patterns.length).to.be.greaterThan(1);
    const files = patterns.flatMap(filesOf);
    expect([...files].sort()).to.deep.equal([...filesOf("dist/test/**/*.test.js")].sort());
  });
});
