import type * as vendor from "@modelcontextprotocol/client";
import { messageOf, ValidationError } from "../../../contracts/errors.js";

const PACKAGE = "@modelcontextprotocol/client";

/** The protocol's client package, as far as it is used here. */
export type ClientVendor = typeof vendor;

/** Loads the protocol's client when the first server is reached. @throws ValidationError where it is not installed. */
export async function loadClientVendor(): Promise<ClientVendor> {
  try {
    return await import("@modelcontextprotocol/client");
  } catch (error) {
    const isMissing =
      (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND" &&
      messageOf(error).includes(PACKAGE); // looked at, not trusted
    if (!isMissing) throw error;
    throw new ValidationError(`MCP servers need the package '${PACKAGE}', which is not installed`, {
      cause: error,
      hint: `Run: npm install ${PACKAGE}`,
    });
  }
}
