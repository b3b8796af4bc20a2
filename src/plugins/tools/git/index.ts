export { gitTool } from "./git-tool.js";
export type { GitToolOptions } from "./git-options.js";
export type { GitRequest } from "./git-arguments.js";
