/**
 * Placeholder texts for parts of an MCP tool's result that are not text, by name. `{name}` stands
 * for a value. `docs/mcp.md` lists the values of each text.
 */
export const MCP_TEMPLATES = Object.freeze({
  "mcp.part": "[{kind}, {mimeType}, {bytes} bytes]",
  "mcp.media": "[{kind}, {mimeType}, {bytes} bytes: not shown]",
  "mcp.link": "[link to resource {uri}: {name}]",
  "mcp.resource": "[resource {uri}]\n{text}",
  "mcp.truncated": "... [truncated, full length: {length} chars]",
} as const);

/** The name of a text of this plugin. */
export type McpTemplateName = keyof typeof MCP_TEMPLATES;
