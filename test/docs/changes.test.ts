import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { projectRoot, readProjectFile } from "../support/project.js";

/** A kind, an empty line, and a paragraph for users. */
const CHANGE = /^(?:added|changed|fixed|deprecated|removed)\n\n\S[^\n]*[.`]\n$/;

describe("changes/", () => {
  const files = readdirSync(join(projectRoot, "changes"));

  it("holds Markdown files in kebab-case", () => {
    expect(files.filter((file) => !/^[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.test(file))).to.deep.equal([]);
  });

  it("states the kind of each change, then what is different for users", () => {
    for (const file of files) expect(readProjectFile(`changes/${file}`), file).to.match(CHANGE);
  });

  it("accepts no other kind, no title and no second paragraph", () => {
    for (const text of ["improved\n\nIt.\n", "# Fixed\n\nIt.\n", "fixed\n\nIt.\n\nAnd.\n"])
      expect(text).not.to.match(CHANGE);
  });
});
