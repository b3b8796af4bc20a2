import type { Plugin } from "../../contracts/plugin.js";
import { definePlugin } from "../../contracts/plugin.js";
import { Tokens } from "../../contracts/tokens.js";
import { startToon } from "./toon-formatter.js";

/**
 * Provides the format TOON for structured data in prompts. Its package is loaded when a run uses
 * the format.
 */
export function contextFormat(): Plugin {
  return definePlugin({
    name: "context-format",
    bind(bind) {
      bind.many(Tokens.ContextFormat).toConstantValue({ name: "TOON", start: startToon });
    },
  });
}
