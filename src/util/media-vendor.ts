import type * as Vendor from "magic-bytes.js";
import { createRequire } from "node:module";

/**
 * Loads the table of file types at the first call: checks in constructors are synchronous, and most
 * programs have no files. The build bundles the package into this file, so that the published
 * package does not depend on it.
 */
export function fileTypes(): typeof Vendor {
  return createRequire(import.meta.url)("magic-bytes.js") as typeof Vendor;
}
