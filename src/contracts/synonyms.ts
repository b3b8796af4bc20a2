/**
 * Option names of other frameworks, each with the corresponding option of this framework, for
 * messages about unknown options.
 */

const INPUT_TYPE = "the option inputType of the ensemble";
const OUTPUT_TYPE = "the option outputType of a task";
const BACKGROUND = "the option background of the agent";

export const AGENT_SYNONYMS: Readonly<Record<string, string>> = {
  name: "role",
  description: "goal",
  instructions: "background",
  system: "background",
  systemPrompt: "background",
  prompt: "background",
  backstory: "background",
  llm: "model",
  inputSchema: INPUT_TYPE,
  outputSchema: OUTPUT_TYPE,
  maxSteps: "maxIterations",
  maxTurns: "maxIterations",
  maxIter: "maxIterations",
  stopWhen: "maxIterations",
  temperature: "modelOptions.temperature",
  maxOutputTokens: "modelOptions.maxOutputTokens",
  maxTokens: "modelOptions.maxOutputTokens",
};

export const MODEL_OPTION_SYNONYMS: Readonly<Record<string, string>> = {
  maxTokens: "maxOutputTokens",
  stop: "stopSequences",
};

export const TASK_SYNONYMS: Readonly<Record<string, string>> = {
  prompt: "description",
  input: "description",
  instructions: "description",
  system: BACKGROUND,
  systemPrompt: BACKGROUND,
  llm: "model",
  inputSchema: INPUT_TYPE,
  schema: "outputType",
  output: "outputType",
  outputSchema: "outputType",
  responseFormat: "outputType",
  dependsOn: "context",
  maxSteps: "maxIterations",
  maxTurns: "maxIterations",
  maxRetries: "maxOutputRetries",
  execute: "handler",
  guardrail: "outputGuardrails",
  guardrails: "outputGuardrails",
  timeout: "timeoutMs",
};

export const TOOL_SYNONYMS: Readonly<Record<string, string>> = {
  id: "name",
  instructions: "description",
  prompt: "description",
  outputSchema: "ToolResult.success(text, value)",
  inputSchema: "input",
  inputType: "input",
  parameters: "input",
  schema: "input",
  handler: "execute",
  func: "execute",
  run: "execute",
  timeout: "timeoutMs",
};

export const ENSEMBLE_SYNONYMS: Readonly<Record<string, string>> = {
  llm: "model",
  instructions: BACKGROUND,
  system: BACKGROUND,
  prompt: "the option description of a task",
  outputSchema: OUTPUT_TYPE,
  maxSteps: "the option maxIterations of an agent or a task",
  process: "workflow",
  members: "agents",
  schema: "inputType",
  inputSchema: "inputType",
  callbacks: "on",
  stream: "streaming",
  timeout: "the option timeoutMs of run()",
  timeoutMs: "the option timeoutMs of run()",
  signal: "the option signal of run()",
};
