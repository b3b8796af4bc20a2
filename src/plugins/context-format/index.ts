import type { Plugin } from "../../contracts/plugin.js";
import { definePlugin } from "../../contracts/plugin.js";
import { Tokens } from "../../contracts/tokens.js";
import { startToon } from "./toon-formatter.js";

/** Brings the format TOON for structured data in prompts; its package is loaded when a run asks for it. */
export function contextFormat(): Plugin {
  return definePlugin({
    name: "context-format",
    bind(bind) {
      bind.many(Tokens.ContextFormat).toConstantValue({ name: "TOON", start: startToon });
    },
  });
}
