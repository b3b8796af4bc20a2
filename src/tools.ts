/** Tools for agents, and building blocks for custom tools. */
export { approveAfterUntrusted } from "./plugins/tools/untrusted/index.js";
export {
  AccessDeniedError,
  CommandError,
  FetchError,
  FileAccessError,
} from "./contracts/state-errors.js";
export type { FileAccessReason } from "./contracts/state-errors.js";
export { fileReadTool } from "./plugins/tools/files/file-read-tool.js";
export type { FileReadInput, FileReadToolOptions } from "./plugins/tools/files/file-read-tool.js";
export { fileWriteTool } from "./plugins/tools/files/file-write-tool.js";
export type {
  FileWriteInput,
  FileWriteToolOptions,
} from "./plugins/tools/files/file-write-tool.js";
export { gitTool } from "./plugins/tools/git/index.js";
export type { GitRequest, GitToolOptions } from "./plugins/tools/git/index.js";
export { DEFAULT_ALLOWED_ENV, processTool, runCommand } from "./plugins/tools/process/index.js";
export type {
  CommandResult,
  ProcessToolOptions,
  RunCommandOptions,
} from "./plugins/tools/process/index.js";
export { calculatorTool } from "./plugins/tools/calculator/index.js";
export { dateTimeTool } from "./plugins/tools/datetime/index.js";
export type { DateTimeToolOptions } from "./plugins/tools/datetime/index.js";
export { jsonParserTool } from "./plugins/tools/json-parser/index.js";
export type { JsonParserInput } from "./plugins/tools/json-parser/index.js";
export { memoryTool } from "./plugins/memory/memory-tool/index.js";
export type { MemoryTool, MemoryToolOptions } from "./plugins/memory/memory-tool/index.js";
export { ToolPipeline } from "./plugins/tools/pipeline/index.js";
export type {
  PipelineErrorStrategy,
  PipelineStep,
  ToolPipelineOptions,
} from "./plugins/tools/pipeline/index.js";
export {
  brave,
  httpTool,
  safeFetch,
  searxng,
  serpApi,
  tavily,
  webScraperTool,
  webSearchTool,
} from "./plugins/tools/web/index.js";
export type {
  AllowedTargets,
  BraveOptions,
  HostLookup,
  HttpToolOptions,
  HttpToolOutput,
  PageFormat,
  SafeFetch,
  SafeFetchOptions,
  SafeRequestInit,
  SafeResponse,
  SearchProvider,
  SearchResult,
  SearchServiceOptions,
  SearxngOptions,
  SerpApiOptions,
  TavilyOptions,
  WebPage,
  WebScraperToolOptions,
  WebSearchOutput,
  WebSearchToolOptions,
} from "./plugins/tools/web/index.js";
export { pathJail } from "./plugins/tools/shared/path-jail.js";
export type {
  JailedFile,
  JailReadOptions,
  JailWriteOptions,
  JailWriteResult,
  PathJail,
  PathJailOptions,
} from "./plugins/tools/shared/path-jail.js";
export type { CodeEditInput } from "./plugins/tools/workspace/code-edit-input.js";
export { codeEditTool } from "./plugins/tools/workspace/code-edit-tool.js";
export type { CodeEditToolOptions } from "./plugins/tools/workspace/code-edit-tool.js";
export { codeSearchTool } from "./plugins/tools/workspace/code-search-tool.js";
export type {
  CodeSearchInput,
  CodeSearchToolOptions,
} from "./plugins/tools/workspace/code-search-tool.js";
export { globTool } from "./plugins/tools/workspace/glob-tool.js";
export type { GlobInput, GlobToolOptions } from "./plugins/tools/workspace/glob-tool.js";
export type { Replacement } from "./plugins/tools/workspace/text-edit.js";
export type { WorkspaceOptions } from "./plugins/tools/workspace/workspace-options.js";
export { humanInputTool } from "./plugins/review/human-input/human-input-tool.js";
export type {
  HumanInput,
  HumanInputOptions,
} from "./plugins/review/human-input/human-input-tool.js";
export { clientTool } from "./plugins/review/client-tool/client-tool.js";
export type {
  ClientTool,
  ClientToolCall,
  ClientToolOptions,
} from "./plugins/review/client-tool/client-tool.js";
