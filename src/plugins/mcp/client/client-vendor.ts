import type * as vendor from "@modelcontextprotocol/client";
import { loadOptionalPackage } from "../../shared/optional-package.js";

/** The part of the protocol's client package that is used here. */
export type ClientVendor = typeof vendor;

/**
 * Loads the protocol's client when the first server is connected.
 * @throws ValidationError if the package is not installed
 */
export function loadClientVendor(): Promise<ClientVendor> {
  return loadOptionalPackage<ClientVendor>("@modelcontextprotocol/client", "MCP servers need");
}
