import type * as vendor from "prom-client";
import { loadOptionalPackage } from "../../shared/optional-package.js";

/** The part of the package that is used. */
export type PromClient = Pick<typeof vendor, "Counter" | "Gauge" | "Histogram" | "Registry">;

/**
 * Loads the client at the start of the kernel, or when metrics are requested.
 * @throws ValidationError if it is not installed.
 */
export async function loadPromClient(): Promise<PromClient> {
  const { default: client } = await loadOptionalPackage<{ readonly default: PromClient }>(
    "prom-client",
    "prometheus() needs",
  );
  return client;
}
