// The build bundles this file with its package: the published package does not depend on it.
export { parse } from "csv-parse";
