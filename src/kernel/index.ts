export { Kernel } from "./kernel.js";
export { Container, ContainerModule } from "./vendor.js";
export { checkValue, parseText, validatorOf } from "./schema.js";
export type { Checked } from "./schema.js";
