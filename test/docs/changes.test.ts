import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { projectRoot, readProjectFile } from "../support/project.js";

/** A kind, an empty line, and a paragraph for users. */
const CHANGE = /^(?:added|changed|fixed|deprecated|removed)\n\n\S[^\n]*[.`]\n$/;

describe("changes/", () => {
  const files = readdirSync(join(projectRoot, "changes"));

  it("contains Markdown files in kebab-case", () => {
    expect(files.filter((file) => !/^[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.test(file))).to.deep.equal([]);
  });

  it("starts each file with the kind of the change, then describes the difference for users", () => {
    for (const file of files) expect(readProjectFile(`changes/${file}`), file).to.match(CHANGE);
  });

  it("refuses other kinds, a title and a second paragraph", () => {
    for (const text of ["improved\n\nIt.\n", "# Fixed\n\nIt.\n", "fixed\n\nIt.\n\nAnd.\n"])
      expect(text).not.to.match(CHANGE);
  });
});
