import type * as Vendor from "magic-bytes.js";
import { createRequire } from "node:module";

/**
 * Loads the table of file types at the first call, because most programs have no files. Loads it
 * synchronously, because checks in constructors are synchronous. The build bundles `magic-bytes.js`
 * into this file: the published package does not depend on it.
 */
export function fileTypes(): typeof Vendor {
  return createRequire(import.meta.url)("magic-bytes.js") as typeof Vendor;
}
