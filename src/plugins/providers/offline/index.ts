import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { offline } from "./offline.js";

export { offline } from "./offline.js";
export type { OfflineOptions } from "./offline.js";

/** Registers the model name `offline:extractive`. */
export function offlineProvider(): Plugin {
  return definePlugin({
    name: "provider-offline",
    bind(bind) {
      bind
        .many(Tokens.ChatModelProvider)
        .toConstantValue(
          Object.freeze({ name: "offline", create: (modelId: string) => offline(modelId) }),
        );
    },
  });
}
