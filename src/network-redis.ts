/** A backend of services in Redis, on BullMQ, for any number of processes. */
export { bullmq } from "./plugins/network/redis/index.js";
export type { BullmqOptions } from "./plugins/network/redis/index.js";
