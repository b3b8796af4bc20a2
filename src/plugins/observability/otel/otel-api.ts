import type * as vendor from "@opentelemetry/api";
import { loadOptionalPackage } from "../../shared/optional-package.js";

/** The part of the package that is used. */
export type OtelApi = Pick<
  typeof vendor,
  | "context"
  | "createTraceState"
  | "isSpanContextValid"
  | "metrics"
  | "ROOT_CONTEXT"
  | "SpanKind"
  | "SpanStatusCode"
  | "trace"
>;

/**
 * Loads the API of OpenTelemetry when the kernel starts.
 * @throws ValidationError if it is missing.
 */
export function loadOtelApi(): Promise<OtelApi> {
  return loadOptionalPackage<OtelApi>("@opentelemetry/api", "otel() needs");
}
