/** Calls of agents that support A2A 1.0: services of this framework and of others. */
export { a2a } from "./plugins/network/shared/a2a-client/a2a-remote.js";
export type { A2aOptions } from "./plugins/network/shared/a2a-client/a2a-options.js";
