export { Kernel } from "./kernel.js";
export { emitEvent, settingsOf } from "./run-info.js";
export type { RunSettings } from "./run-info.js";
export { canonicalRole } from "./agent-resolution.js";
export { Container, ContainerModule } from "./vendor.js";
export { checkValue, parseText, validatorOf } from "./schema.js";
export type { Checked } from "./schema.js";
