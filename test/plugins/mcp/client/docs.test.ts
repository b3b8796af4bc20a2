import { expect } from "chai";
import { MCP_TEMPLATES } from "../../../../src/plugins/mcp/client/mcp-client-prompts.js";
import {
  CALL_FIELDS,
  COMMON_FIELDS,
} from "../../../../src/plugins/mcp/client/mcp-client-options.js";
import { readProjectFile } from "../../../support/project.js";

describe("docs/mcp.md", () => {
  const page = readProjectFile("docs/mcp.md");

  it("shows the texts of results", () => {
    for (const [name, text] of Object.entries(MCP_TEMPLATES))
      expect(page, name).to.contain(`| \`${name}\` | \`${text.split("\n")[0]}\``);
  });

  it("lists the options that every server has", () => {
    for (const option of [...COMMON_FIELDS, ...CALL_FIELDS])
      expect(page).to.contain(`| \`${option}\` |`);
  });
});
