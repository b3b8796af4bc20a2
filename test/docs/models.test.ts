import { expect } from "chai";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MODELS } from "../../examples/support/model.js";
import { projectRoot, readProjectFile, typeScriptFiles } from "../support/project.js";
import { documentationPages } from "./markdown.js";

/** In addition to the models of `MODELS`: a larger model of each vendor, if a page compares two. */
const LARGER = ["gpt-5", "claude-opus-5"];
const NAME = /\b(?:gpt-\d|claude-(?:opus|sonnet|haiku)-)[\w.-]*\w/g;

const templates = readdirSync(join(projectRoot, "create-agentensemble/templates"), {
  recursive: true,
  encoding: "utf8",
})
  .filter((file) => /\.(?:ts|tsx|md|example)$/.test(file))
  .map((file) => `create-agentensemble/templates/${file}`);

/** The texts that users copy from: pages, templates, examples, and the advice in messages. */
const copied = [
  ...documentationPages().filter((page) => !page.startsWith("docs/decisions/")),
  ...templates,
  ...typeScriptFiles("examples"),
  ...typeScriptFiles("src"),
];

describe("the models that pages, templates, examples and messages name", () => {
  it("are the default model, which one constant defines, and a larger model", () => {
    const known = new Set<string>([...Object.values(MODELS), ...LARGER]);
    const other = copied.flatMap((file) =>
      [...readProjectFile(file).matchAll(NAME)]
        .map(([name]) => name)
        .filter((name) => !known.has(name) && !/-\d{4}-\d\d-\d\d$/.test(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(copied.length).to.be.above(200);
    expect(other).to.deep.equal([]);
  });

  it("are named by the templates and the README", () => {
    for (const name of Object.values(MODELS))
      for (const file of ["README.md", "create-agentensemble/templates/base/src/model.ts"])
        expect(readProjectFile(file), file).to.include(name);
  });
});
