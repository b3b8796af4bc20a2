// What plugins use of the engine.
export { workerOf } from "../contracts/delegation.js";
