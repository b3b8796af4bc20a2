import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";

/** A `Registry` of prom-client. */
export interface PrometheusRegistry {
  readonly contentType: string;
  metrics(): Promise<string>;
  getSingleMetric(name: string): unknown;
}

/** The address of the endpoint, which only this machine can reach. */
export interface PrometheusListenOptions {
  /** The port. 0 selects a free port. `url` then has its number. */
  readonly port: number;
  /** The host: `127.0.0.1` (default), `::1` or `localhost`. */
  readonly host?: string | undefined;
}

/** Options of `prometheus`. */
export interface PrometheusOptions {
  /**
   * The registry of the metrics. The numbers of kernels with the same registry are added. Default:
   * a separate registry.
   */
  readonly registry?: PrometheusRegistry | undefined;
  /** Prefix of the names of all metrics. Default `agentensemble_`. */
  readonly prefix?: string | undefined;
  /**
   * Maximum number of different values of each label (roles, tools, models). Further values are
   * counted as `other`. Default 100.
   */
  readonly maxLabelValues?: number | undefined;
  /** Serves `/metrics` over HTTP until the kernel ends. Default: no endpoint. */
  readonly listen?: PrometheusListenOptions | undefined;
}

/** Options with their defaults. */
export interface ResolvedPrometheusOptions {
  readonly registry: PrometheusRegistry | undefined;
  readonly prefix: string;
  readonly maxLabelValues: number;
  readonly listen: { readonly port: number; readonly host: string } | undefined;
}

const LOOPBACK: readonly string[] = Object.freeze(["127.0.0.1", "::1", "localhost"]);

function resolveListen(o: PrometheusListenOptions): {
  readonly port: number;
  readonly host: string;
} {
  checkOptions("prometheus listen", o, ["port", "host"]);
  const { port, host = "127.0.0.1" } = o;
  if (port === undefined)
    throw new ValidationError("prometheus listen must have a port; 0 takes any free one");
  requireInteger("prometheus listen.port", port, 0);
  if (port > 65_535)
    throw new ValidationError(`prometheus listen.port must be at most 65535, got: ${port}`);
  if (!LOOPBACK.includes(host))
    throw new ValidationError(
      `prometheus listen.host must be one of ${LOOPBACK.join(", ")}, got: ${preview(host)}`,
      {
        hint: "To let other machines in, mount `handler` in a server of your own, behind what protects it.",
      },
    );
  return { port, host };
}

/** Applies the defaults. @throws ValidationError for an invalid option. */
export function resolvePrometheusOptions(options: PrometheusOptions): ResolvedPrometheusOptions {
  checkOptions("prometheus", options, ["registry", "prefix", "maxLabelValues", "listen"]);
  const { registry, prefix = "agentensemble_", maxLabelValues = 100, listen } = options;
  if (
    registry !== undefined &&
    (typeof registry?.metrics !== "function" || typeof registry.getSingleMetric !== "function")
  )
    throw new ValidationError(
      `prometheus registry must be a Registry of prom-client, got: ${preview(registry)}`,
    );
  if (typeof prefix !== "string" || !/^([a-zA-Z_:][a-zA-Z0-9_:]*)?$/.test(prefix))
    throw new ValidationError(
      `prometheus prefix must be letters, digits, _ and :, not beginning with a digit, got: ${preview(prefix)}`,
    );
  requireInteger("prometheus maxLabelValues", maxLabelValues, 1);
  return {
    registry,
    prefix,
    maxLabelValues,
    listen: listen === undefined ? undefined : resolveListen(listen),
  };
}
