import { expect } from "chai";
import type { AnyTool } from "../../../src/contracts/tool.js";
import type { JsonSchema } from "../../../src/contracts/types.js";
import { OPENAI_DIALECT } from "../../../src/plugins/providers/openai/strict-dialect.js";
import { toStrictSchema } from "../../../src/plugins/providers/shared/strict-schema.js";
import * as tools from "../../../src/tools.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe("the built-in tools' schemas", () => {
  let baseDir: string;
  before(() => (baseDir = temporaryFolder()));

  const withSchema: Readonly<Record<string, () => AnyTool>> = {
    json_parser: () => tools.jsonParserTool(),
    file_read: () => tools.fileReadTool({ baseDir }),
    file_write: () => tools.fileWriteTool({ baseDir }),
    glob: () => tools.globTool({ baseDir }),
    code_search: () => tools.codeSearchTool({ baseDir }),
    code_edit: () => tools.codeEditTool({ baseDir }),
    git: () => tools.gitTool({ baseDir }),
    web_search: () => tools.webSearchTool({ provider: { name: "none", search: () => [] } }),
    web_scrape: () => tools.webScraperTool(),
  };
  for (const [name, create] of Object.entries(withSchema)) {
    it(`are accepted by OpenAI's strict mode: ${name}`, () => {
      const { input } = create();
      const schema = (input as { readonly jsonSchema: JsonSchema }).jsonSchema; // both halves are given, as all of these do
      expect(toStrictSchema(schema, OPENAI_DIALECT)).to.not.equal(undefined);
    });
  }
});
