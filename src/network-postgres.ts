/** A backend of services in PostgreSQL, for any number of processes. */
export { postgres } from "./plugins/network/postgres/index.js";
export type { PostgresOptions } from "./plugins/network/postgres/index.js";
