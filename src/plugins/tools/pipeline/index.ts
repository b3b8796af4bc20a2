export { ToolPipeline } from "./tool-pipeline.js";
export type {
  PipelineErrorStrategy,
  PipelineStep,
  ToolPipelineOptions,
} from "./pipeline-options.js";
