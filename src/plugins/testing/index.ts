export { chatModelContract } from "./chat-model-contract.js";
export type { ChatModelContractOptions, ChatModelContractSupport, ChatModelScenario, ChatModelUnderTest } from "./chat-model-scenario.js";
export { recordingListener } from "./recording-listener.js";
export type { RecordingListener } from "./recording-listener.js";
export { ScriptedModel } from "./scripted-model.js";
export type { ScriptedModelOptions } from "./scripted-model.js";
export type { ScriptedToolCall, Step } from "./script-step.js";
