export { dateTimeTool } from "./datetime-tool.js";
export type { DateTimeToolOptions } from "./datetime-tool.js";
