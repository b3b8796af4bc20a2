import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { projectRoot } from "../../../support/project.js";

const asModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

// As if the package were not installed.
const loader = `export async function resolve(specifier, context, next) {
  if (!specifier.startsWith("@modelcontextprotocol/client")) return next(specifier, context);
  throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: "ERR_MODULE_NOT_FOUND" });
}`;

describe("without @modelcontextprotocol/client", () => {
  it("refuses servers with the command that installs the package", () => {
    const program = `
      import { register } from "node:module";
      register(${JSON.stringify(asModule(loader))});
      const { mcpTools } = await import("agentensemble/mcp");
      const error = await mcpTools({ name: "x", command: "x", onUnavailable: "skip" }).resolve().catch((e) => e);
      console.log(JSON.stringify([error.code, error.message, error.hint]));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: projectRoot,
      encoding: "utf8",
    });
    const [code, message, hint] = JSON.parse(output) as readonly string[]; // written just above
    expect(code).to.equal("AE_VALIDATION");
    expect(message).to.contain("'@modelcontextprotocol/client'");
    expect(hint).to.equal("Run: npm install @modelcontextprotocol/client");
  });
});
