/** Option names from other frameworks, each with the option that has its purpose here: for messages about unknown options. */

export const AGENT_SYNONYMS: Readonly<Record<string, string>> = {
  name: "role",
  description: "goal",
  instructions: "background",
  system: "background",
  systemPrompt: "background",
  prompt: "background",
  backstory: "background",
  llm: "model",
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
  llm: "model",
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
