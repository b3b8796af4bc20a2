import { expect } from "chai";
import { tool } from "../../../src/index.js";
import { mcpServer, mcpTools } from "../../../src/mcp.js";
import { callTool } from "../../support/mcp.js";

describe("mcpTools and mcpServer", () => {
  it("understand each other over HTTP", async () => {
    const input = {
      type: "object",
      properties: { harbour: { type: "string" } },
      required: ["harbour"],
    };
    const highWater = tool({
      name: "high_water",
      description: "High water",
      input,
      execute: ({ harbour }) => ({ harbour, at: "14:40" }),
    });
    await using server = mcpServer({ name: "office", tools: [highWater] });
    const { url } = await server.http({ token: "only-for-this-test" });
    await using office = mcpTools({
      name: "office",
      url,
      headers: { authorization: "Bearer only-for-this-test" },
    });
    const result = await callTool(office, "office__high_water", { harbour: "Husum" });
    expect(result.structured).to.deep.equal({ harbour: "Husum", at: "14:40" });
  });
});
