import type { EnsembleAccess } from "../../../contracts/ensemble-access.js";
import type { NetworkBackend } from "../../../contracts/network.js";
import type { PluginContext } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { NetworkTokens } from "../../../contracts/network.js";

/** The backend bound by the kernel of an ensemble, for requests without a run. */
export class BoundBackend {
  #ready: (() => Promise<void>) | undefined;
  #backend: NetworkBackend | undefined;

  attach(ensemble: Pick<EnsembleAccess, "ready">): void {
    this.#ready = () => ensemble.ready();
  }

  /** Reads the binding at the boot of the kernel. */
  read(ctx: Pick<PluginContext, "get">): void {
    try {
      this.#backend = ctx.get(NetworkTokens.NetworkBackend);
    } catch (error) {
      if (!ValidationError.isInstance(error)) throw error; // no binding
    }
  }

  /** Boots the kernel. Returns `undefined` without a binding or an ensemble. */
  async backend(): Promise<NetworkBackend | undefined> {
    await this.#ready?.();
    return this.#backend;
  }
}
