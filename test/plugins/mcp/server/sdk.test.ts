import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { projectRoot } from "../../../support/project.js";

const asModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

// As if the package were not installed.
const loader = `export async function resolve(specifier, context, next) {
  if (!specifier.startsWith("@modelcontextprotocol/server")) return next(specifier, context);
  throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: "ERR_MODULE_NOT_FOUND" });
}`;

describe("without @modelcontextprotocol/server", () => {
  it("refuses to serve, and names the command that installs the package", () => {
    const program = `
      import { register } from "node:module";
      register(${JSON.stringify(asModule(loader))});
      const { mcpServer } = await import("agentensemble/mcp");
      const { calculatorTool } = await import("agentensemble/tools");
      const error = await mcpServer({ tools: [calculatorTool()] }).http().catch((e) => e);
      console.log(JSON.stringify([error.code, error.message, error.hint]));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: projectRoot,
      encoding: "utf8",
    });
    const [code, message, hint] = JSON.parse(output) as readonly string[]; // written just above
    expect(code).to.equal("AE_VALIDATION");
    expect(message).to.contain("@modelcontextprotocol/server");
    expect(hint).to.equal("Run: npm install @modelcontextprotocol/server");
  });
});
