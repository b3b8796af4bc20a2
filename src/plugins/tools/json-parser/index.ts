export { jsonParserTool } from "./json-parser-tool.js";
export type { JsonParserInput } from "./json-parser-tool.js";
