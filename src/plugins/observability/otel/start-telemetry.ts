import type { Meter, Tracer } from "@opentelemetry/api";
import type { Clock } from "../../../contracts/runtime.js";
import type { OtelOptions } from "./otel-options.js";
import type { Tracing } from "./tracing.js";
import { Instruments } from "./instruments.js";
import { loadOtelApi } from "./otel-api.js";
import { textRedactor } from "./redaction.js";
import { chosenVersion, namesOfVersion } from "./semantic-names.js";

const SCOPE = "agentensemble";

/**
 * Loads OpenTelemetry and returns tracer and meter. `noted` receives the errors of the `redact`
 * function.
 */
export async function startTelemetry(
  options: OtelOptions,
  clock: Clock,
  noted: (error: unknown) => void,
): Promise<Tracing> {
  const api = await loadOtelApi();
  const { tracer, tracerProvider = api.trace, meterProvider = api.metrics, workflowName } = options;
  const names = namesOfVersion(chosenVersion(options.semconvVersion, process.env));
  return {
    api,
    // the option's type has only the checked members, because third-party types are not public
    tracer: (tracer ?? tracerProvider.getTracer(SCOPE)) as Tracer,
    instruments: new Instruments(meterProvider.getMeter(SCOPE) as Meter, names), // see the tracer
    names,
    clock,
    captureContent: options.captureContent === true,
    redact: textRedactor(options.redact, noted),
    workflowNameOf: typeof workflowName === "function" ? workflowName : () => workflowName,
  };
}
