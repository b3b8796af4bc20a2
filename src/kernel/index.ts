export { Kernel } from "./kernel.js";
export {
  chatInTask,
  emitEvent,
  formatIn,
  groupOf,
  noteTask,
  noteTraceId,
  outputsOf,
  parentOf,
  redactorOf,
  settingsOf,
  sourceTaskOf,
  startOf,
  stopRun,
} from "./run-info.js";
export { memoryOf, memoryOfCall } from "./task-memory.js";
export type { GatewayMemory } from "./task-memory.js";
export { systemClock, uuidGenerator } from "./defaults.js";
export { makeFolder } from "./make-folder.js";
export { createRedactor, redactEvent } from "./redaction.js";
export type { SecretSources } from "./redaction.js";
export { lineInJson } from "./json-position.js";
export type { JsonPath } from "./json-position.js";
export { toJsonValue } from "./json-value.js";
export type { JsonValueRules } from "./json-value.js";
export { containedPart, containedText, listItem, oneLine } from "./contained-text.js";
export { isRefused, priceOf } from "./cost.js";
export { canonicalJson, canonicalRequest, requestKey } from "./canonical.js";
export type { RunSettings } from "./run-info.js";
export { canonicalRole } from "./workers.js";
export { delegateForModel } from "./delegation-request.js";
export { workerOf } from "./delegation-gateway.js";
export type { WorkerResult } from "./delegation-gateway.js";
export { PromptLibrary } from "./prompt-texts.js";
export type { PromptTexts } from "./prompt-texts.js";
export { Container, ContainerModule } from "./vendor.js";
export { checkValue, parseText, validatorOf } from "./schema.js";
export type { Checked } from "./schema.js";
export { checkToolInput } from "./tool-gateway.js";
export { reviseOutput } from "./task-output.js";
