import type * as vendor from "prom-client";
import { loadOptionalPackage } from "../../shared/optional-package.js";

/** The package, as far as it is used here. */
export type PromClient = Pick<typeof vendor, "Counter" | "Gauge" | "Histogram" | "Registry">;

/** Loads the client when the kernel starts, or metrics are asked for. @throws ValidationError when it is not installed. */
export async function loadPromClient(): Promise<PromClient> {
  const { default: client } = await loadOptionalPackage<{ readonly default: PromClient }>(
    "prom-client",
    "prometheus() needs",
  );
  return client;
}
