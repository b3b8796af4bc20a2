import type { EnsembleAccess } from "../../../contracts/ensemble-access.js";
import type { NetworkBackend } from "../../../contracts/network.js";
import type { PluginContext } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { NetworkTokens } from "../../../contracts/network.js";

/** The backend that the kernel of an ensemble binds, for requests without a run. */
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
      if (!ValidationError.isInstance(error)) throw error; // nothing is bound
    }
  }

  /** Boots the kernel. `undefined` where it binds none, and without an ensemble. */
  async backend(): Promise<NetworkBackend | undefined> {
    await this.#ready?.();
    return this.#backend;
  }
}
