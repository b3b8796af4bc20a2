import type * as vendor from "@opentelemetry/api";
import { messageOf, ValidationError } from "../../../contracts/errors.js";

const PACKAGE = "@opentelemetry/api";

/** The package, as far as it is used here. */
export type OtelApi = Pick<
  typeof vendor,
  | "context"
  | "isSpanContextValid"
  | "metrics"
  | "ROOT_CONTEXT"
  | "SpanKind"
  | "SpanStatusCode"
  | "trace"
>;

/** Loads the API of OpenTelemetry when the kernel starts. @throws ValidationError where it is not installed. */
export async function loadOtelApi(): Promise<OtelApi> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    const isMissing =
      (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND" &&
      messageOf(error).includes(PACKAGE); // looked at, not trusted
    if (!isMissing) throw error;
    throw new ValidationError(`otel() needs the package '${PACKAGE}', which is not installed`, {
      cause: error,
      hint: `Run: npm install ${PACKAGE}`,
    });
  }
}
