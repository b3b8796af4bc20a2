export { Kernel } from "./kernel.js";
export { Container, ContainerModule, inject, injectable } from "./class-injection.js";
