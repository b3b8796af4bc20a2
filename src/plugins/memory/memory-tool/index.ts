export { memoryTool } from "./memory-tool.js";
export type { MemoryTool, MemoryToolOptions } from "./memory-tool.js";
