export { processTool } from "./process-tool.js";
export type { ProcessToolOptions } from "./process-tool.js";
export { runCommand } from "../shared/run-command.js";
export type { CommandResult } from "../shared/run-command.js";
export { DEFAULT_ALLOWED_ENV } from "../shared/run-command-options.js";
export type { RunCommandOptions } from "../shared/run-command-options.js";
