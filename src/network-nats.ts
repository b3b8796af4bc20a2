/** A backend of services in NATS with JetStream, for any number of processes. */
export { nats } from "./plugins/network/nats/nats-backend.js";
export type { NatsOptions } from "./plugins/network/nats/nats-options.js";
