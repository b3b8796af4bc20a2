import { expect } from "chai";
import type { AnyTool } from "agentensemble";
import { MemoryStore, memoryTool } from "agentensemble/memory";
import * as tools from "agentensemble/tools";
import { temporaryFolder } from "../../support/temporary-folder.js";

/**
 * Without `timeoutMs`, the size of the input limits the work of a tool, or the tool has a separate
 * limit.
 */
const LIMITED_WITHIN = [
  "calculator",
  "datetime",
  "json_parser",
  "glob",
  "code_search",
  "web_search",
  "web_scrape",
];

describe("the built-in tools", () => {
  let baseDir: string;
  let all: readonly AnyTool[];
  before(() => {
    baseDir = temporaryFolder();
    all = [
      ...[tools.calculatorTool(), tools.dateTimeTool(), tools.humanInputTool()],
      ...memoryTool("facts", MemoryStore.inMemory()).tools,
      ...[
        tools.jsonParserTool(),
        tools.webScraperTool(),
        tools.webSearchTool({ provider: { name: "none", search: () => [] } }),
      ],
      ...[
        tools.fileReadTool({ baseDir }),
        tools.fileWriteTool({ baseDir }),
        tools.codeEditTool({ baseDir }),
      ],
      ...[tools.globTool({ baseDir }), tools.codeSearchTool({ baseDir })],
    ] as AnyTool[]; // of whatever input
  });

  it("describe their calls to a model", () => {
    for (const { name, description, input } of all) {
      expect(description, name).to.match(/Example: /);
      const schema = (input ?? {}) as {
        readonly jsonSchema?: object;
        readonly properties?: object;
      };
      const { properties = {} } = (schema.jsonSchema ?? schema) as { readonly properties?: object };
      for (const [argument, value] of Object.entries(properties))
        expect(value, `${name} ${argument}`).to.include.keys("description", "examples");
    }
  });

  it("end in time, also if a disk or a store does not answer", () => {
    const unlimited = all
      .filter(({ timeoutMs }) => timeoutMs === undefined)
      .map(({ name }) => name);
    expect(unlimited).to.have.members(LIMITED_WITHIN);
  });
});
