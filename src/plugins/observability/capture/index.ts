import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { jsonTraceExporter } from "../shared/json-trace-exporter.js";
import { FULL, NONE, STANDARD } from "./modes.js";

/** The capture modes NONE, STANDARD and FULL, and the files for modes with `exportsTo`. */
export function observabilityCapture(): Plugin {
  return definePlugin({
    name: "observability-capture",
    bind(bind) {
      bind.many(Tokens.CaptureMode).toConstantValue(NONE);
      bind.many(Tokens.CaptureMode).toConstantValue(STANDARD);
      bind.many(Tokens.CaptureMode).toConstantValue(FULL);
      bind
        .single(Tokens.FolderExporter, { default: true })
        .toConstantValue((folder) => jsonTraceExporter({ dir: folder }));
    },
  });
}
