import type * as vendor from "@modelcontextprotocol/client";
import { loadOptionalPackage } from "../../shared/optional-package.js";

/** The protocol's client package, as far as it is used here. */
export type ClientVendor = typeof vendor;

/** Loads the protocol's client when the first server is reached. @throws ValidationError when it is not installed. */
export function loadClientVendor(): Promise<ClientVendor> {
  return loadOptionalPackage<ClientVendor>("@modelcontextprotocol/client", "MCP servers need");
}
