import { expect } from "chai";
import * as contracts from "../../src/contracts/index.js";
import * as conversationErrors from "../../src/contracts/conversation-errors.js";
import * as evaluationErrors from "../../src/contracts/evaluation-errors.js";
import { readProjectFile, tableOf, typeScriptFiles } from "../support/project.js";

const rows = tableOf("docs/errors.md", "code");
const documented = rows.map(([code = ""]) => code).sort();

describe("docs/errors.md", () => {
  it("lists exactly the codes that the sources use", () => {
    const used = typeScriptFiles("src").flatMap(
      (file) => readProjectFile(file).match(/(?<=")AE_[A-Z_]+(?=")/g) ?? [],
    );
    expect(documented).to.deep.equal([...new Set(used)].sort());
  });

  it("lists each code once", () => {
    expect(new Set(documented).size).to.equal(documented.length);
  });

  it("names exactly the error classes that are exported", () => {
    const classes = Object.values({
      ...contracts,
      ...conversationErrors,
      ...evaluationErrors,
    }).filter(
      (value) =>
        typeof value === "function" && value.prototype instanceof contracts.AgentEnsembleError,
    );
    const named = new Set(rows.map(([, name = ""]) => name));
    named.delete("AgentEnsembleError"); // the base class: a code may have no class
    expect([...named].sort()).to.deep.equal(
      classes.map((value) => (value as { readonly name: string }).name).sort(),
    ); // filtered: these are classes
  });

  it("describes when each error occurs and what to do", () => {
    for (const [code, , when = "", advice = ""] of rows) {
      expect(when, code).to.not.equal("");
      expect(advice, code).to.not.equal("");
    }
  });
});
