import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { SERVICE_SECRETS, ServiceSecrets } from "./service-secrets.js";

/**
 * Removes the tokens of callers and the secrets of webhooks from traces, logs and errors of runs.
 */
export function serviceSecrets(): Plugin {
  return definePlugin({
    name: "service-secrets",
    bind(bind) {
      const secrets = new ServiceSecrets();
      bind.single(SERVICE_SECRETS).toConstantValue(secrets);
      bind.many(Tokens.SecretFilter).toConstantValue(secrets.redact);
    },
  });
}
