// What plugins use of the engine.
export { workerOf } from "./gateways/delegation.js";

export { checkToolInput } from "../contracts/tool-input.js";
