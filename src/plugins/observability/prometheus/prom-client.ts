import type * as vendor from "prom-client";
import { messageOf, ValidationError } from "../../../contracts/errors.js";

const PACKAGE = "prom-client";

/** The package, as far as it is used here. */
export type PromClient = Pick<typeof vendor, "Counter" | "Gauge" | "Histogram" | "Registry">;

/** Loads the client when the kernel starts, or metrics are asked for. @throws ValidationError where it is not installed. */
export async function loadPromClient(): Promise<PromClient> {
  try {
    const { default: client } = await import("prom-client");
    return client;
  } catch (error) {
    const isMissing =
      (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND" &&
      messageOf(error).includes(PACKAGE); // looked at, not trusted
    if (!isMissing) throw error;
    throw new ValidationError(
      `prometheus() needs the package '${PACKAGE}', which is not installed`,
      { cause: error, hint: `Run: npm install ${PACKAGE}` },
    );
  }
}
