import { expect } from "chai";
import { readProjectFile, typeScriptFiles } from "../support/project.js";

type Api = Readonly<Record<string, Readonly<Record<"types" | "values", readonly string[]>>>>;

/**
 * Names of contracts that plugins use in addition to public names and `contracts/validation.ts`. A
 * name may leave this list.
 */
const NOT_PUBLIC = [
  "COMMAND_LINE",
  "CommandLineAccess",
  "NO_METRICS",
  "NamedHandoff",
  "REDACTOR",
  "SOURCE_TASK",
  "TOOL_NAME",
  "TracedValuesToken",
  "checkParts",
  "checkRateLimit",
  "checkTools",
  "errorRedactor",
  "handoffsOf",
  "inputText",
  "isTakenFromTool",
  "keepEntriesWithin",
  "keepLastEntries",
  "originOf",
  "partLimits",
  "partSupport",
  "partsField",
  "predecessorsOf",
  "redactorOfMode",
  "shortTermWindow",
  "sumCost",
  "summaryOfPart",
  "taskLabel",
  "tokenName",
  "toolNameOf",
  "variablesIn",
  "withSuccessors",
];

/** Names that a text imports or exports from files of contracts and kernel, without the checks of options. */
function importedBy(text: string): readonly string[] {
  const lists = text.matchAll(
    /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"[./]*\/(?:contracts\/(?!validation\.js)|kernel\/)/g,
  );
  return [...lists].flatMap(([, list = ""]) =>
    list
      .split(",")
      .map((name) => name.trim().replace(/^type | as .*/g, ""))
      .filter((name) => name !== ""),
  );
}

describe("the built-in plugins", () => {
  it("use public names, checks of options, generic helpers, and a list of exceptions", () => {
    const api = JSON.parse(readProjectFile("test/architecture/public-api.json")) as Api;
    const known = new Set(Object.values(api).flatMap(({ types, values }) => [...types, ...values]));
    const imported = new Set(
      typeScriptFiles("src/plugins").flatMap((path) => importedBy(readProjectFile(path))),
    );
    expect([...imported]).to.include.members(["definePlugin", "Tokens"]);
    expect([...imported].filter((name) => !known.has(name)).sort()).to.deep.equal(NOT_PUBLIC);
    expect(importedBy('import { type A, b as c } from "../../contracts/x.js";')).to.deep.equal([
      "A",
      "b",
    ]);
  });
});
