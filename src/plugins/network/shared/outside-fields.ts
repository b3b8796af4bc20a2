import type { Fields } from "../../../util/objects.js";
import { preview } from "../../../contracts/validation.js";
import { asFields, asText } from "../../../util/objects.js";

/**
 * Describes the invalid fields of a request that arrived over HTTP. Ensembles on one backend may
 * set these fields. Callers over HTTP may not, because they have no access to the topics of the
 * backend.
 */
export function outsideProblem(
  { path, delivery, cache, budget }: Fields,
  { hasWebhooks = false }: { readonly hasWebhooks?: boolean | undefined } = {},
): string | undefined {
  if (path !== undefined && !(Array.isArray(path) && path.every((one) => typeof one === "string")))
    return `path must be an array of names, got: ${preview(path)}`;
  const unfit = delivery === undefined ? undefined : deliveryProblem(delivery, hasWebhooks);
  if (unfit !== undefined) return unfit;
  for (const [name, value] of Object.entries(asFields(budget) ?? {}))
    if (name === "currency" ? typeof value !== "string" : !isPositiveAmount(value))
      return `budget.${name} must be ${name === "currency" ? "a text" : "a number above 0"}, got: ${preview(value)}`;
  return cache === undefined ? undefined : cacheProblem(asFields(cache));
}

function deliveryProblem(delivery: unknown, hasWebhooks: boolean): string | undefined {
  const method = asFields(delivery)?.["method"];
  const methods = ["STORE", "NONE", ...(hasWebhooks ? ["WEBHOOK"] : [])];
  if (methods.includes(asText(method))) return undefined;
  return `delivery.method must be one of ${methods.join(", ")} over HTTP, got: ${preview(method)}`;
}

function cacheProblem(cache: Fields | undefined): string | undefined {
  const { policy, key, maxAgeMs } = cache ?? {};
  const isRight =
    (policy === "USE_CACHED" || policy === "FORCE_FRESH") &&
    typeof key === "string" &&
    isPositiveAmount(maxAgeMs);
  return isRight ? undefined : `cache must have policy, key and maxAgeMs, got: ${preview(cache)}`;
}

function isPositiveAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

/** Returns the cache options with a key that separates the cached results of callers. */
export function callersCache(cache: unknown, caller: string): { readonly cache?: Fields } {
  const fields = asFields(cache);
  if (fields === undefined) return {};
  return { cache: { ...fields, key: JSON.stringify([caller, fields["key"]]) } };
}
