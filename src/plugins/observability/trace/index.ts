import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { recordedTraceBuilder } from "./recorded-trace.js";

/**
 * Creates the trace of every run. Binds `Tokens.TraceBuilder` as a default, so another builder can
 * replace it.
 */
export function observabilityTrace(): Plugin {
  return definePlugin({
    name: "observability-trace",
    bind(bind) {
      bind.single(Tokens.TraceBuilder, { default: true }).toConstantValue(recordedTraceBuilder);
    },
  });
}
