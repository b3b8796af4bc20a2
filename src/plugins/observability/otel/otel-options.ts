import type { RunInfo } from "../../../contracts/run-info.js";
import type { SemconvVersion } from "./semantic-names.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireFunction,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";
import { SEMCONV_VERSIONS } from "./semantic-names.js";

/** A tracer of OpenTelemetry. */
export interface OtelTracer {
  startSpan(name: string): object;
}

/** A tracer provider of OpenTelemetry's SDK. */
export interface OtelTracerProvider {
  getTracer(name: string, version?: string): OtelTracer;
}

/** A meter provider of OpenTelemetry's SDK. */
export interface OtelMeterProvider {
  getMeter(name: string, version?: string): object;
}

/** Options of `otel`. The plugin does not flush or shut down the providers. */
export interface OtelOptions {
  /**
   * The tracer that creates the spans. It can't be combined with `tracerProvider`. Default: the
   * tracer `agentensemble` of `tracerProvider`.
   */
  readonly tracer?: OtelTracer | undefined;
  /** The tracer provider. Default: the globally registered provider. */
  readonly tracerProvider?: OtelTracerProvider | undefined;
  /**
   * The meter provider. Default: the provider that is globally registered when the kernel starts.
   */
  readonly meterProvider?: OtelMeterProvider | undefined;
  /**
   * The version of the semantic conventions for generative AI. Default `1.37`, or `latest` if the
   * environment variable `OTEL_SEMCONV_STABILITY_OPT_IN` contains `gen_ai_latest_experimental`.
   */
  readonly semconvVersion?: SemconvVersion | undefined;
  /**
   * The name of the workflow, for `gen_ai.workflow.name` and for the name of the run's span. Use a
   * small number of different values, and no ids. Default: none.
   */
  readonly workflowName?: string | ((run: RunInfo) => string | undefined) | undefined;
  /**
   * Whether spans contain prompts, answers, tool arguments and results. Keys and tokens are
   * removed. Default false.
   */
  readonly captureContent?: boolean | undefined;
  /**
   * Called with every content text and error message of a span. Returns the replacement. Default:
   * none.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

const NAMES = [
  "tracer",
  "tracerProvider",
  "meterProvider",
  "semconvVersion",
  "workflowName",
  "captureContent",
  "redact",
];

function requireMethod(what: string, value: unknown, method: string): void {
  if (value === undefined) return;
  const found =
    typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)[method]
      : undefined; // any value is possible
  if (typeof found !== "function")
    throw new ValidationError(`otel ${what} must have a method ${method}, got: ${preview(value)}`);
}

/** @throws ValidationError for an invalid option. */
export function checkOtelOptions(options: OtelOptions): void {
  checkOptions("otel", options, NAMES);
  const {
    tracer,
    tracerProvider,
    meterProvider,
    semconvVersion,
    workflowName,
    captureContent,
    redact,
  } = options;
  requireMethod("tracer", tracer, "startSpan");
  requireMethod("tracerProvider", tracerProvider, "getTracer");
  requireMethod("meterProvider", meterProvider, "getMeter");
  if (tracer !== undefined && tracerProvider !== undefined)
    throw new ValidationError("otel takes tracer or tracerProvider, not both");
  requireOneOf("otel semconvVersion", semconvVersion, SEMCONV_VERSIONS);
  if (typeof workflowName === "string")
    requireText(workflowName, "otel workflowName must not be blank when set");
  else requireFunction("otel workflowName", workflowName);
  requireBoolean("otel captureContent", captureContent);
  requireFunction("otel redact", redact);
}
