import type { Container } from "inversify";
import type { EnsembleHooks } from "../contracts/hooks.js";
import type { KernelApi, KernelDescription, Plugin } from "../contracts/plugin.js";
import type { Token } from "../contracts/token.js";
import type { HookPoints } from "./hooks/points.js";
import { ValidationError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { checkOptions, preview, requireArray } from "../contracts/validation.js";
import { Bindings } from "./bindings.js";
import { systemClock, uuidGenerator } from "../util/runtime.js";
import { EventHub } from "./events/event-hub.js";
import { allPoints, createHookPoints, facadeFor } from "./hooks/points.js";
import { PluginHost, checkPlugin } from "./plugin-host.js";

/** The members of a kernel that the engine uses. Not part of the public API. */
export interface KernelInternals {
  readonly points: HookPoints;
  readonly bindings: Bindings;
  readonly hub: EventHub;
  /** The runs in progress. Each value is a function that cancels its run and waits for its end. */
  readonly runs: Set<() => Promise<void>>;
  /** Returns a value that all runs of this kernel share, and creates it at first use. */
  shared<T>(token: Token<T>, make: () => T): T;
  booted(): boolean;
  /** Returns whether the kernel has this plugin, or a plugin of this name. */
  has(plugin: Plugin | string): boolean;
  /** Adds plugins with new names before other plugins. Has no effect after boot has begun. */
  addMissing(plugins: readonly Plugin[]): void;
  readonly attach: NonNullable<Plugin["attach"]>;
  /** Waits until the kernel has booted. @throws the boot error; ValidationError after dispose. */
  ready(): Promise<void>;
}

const DEFAULTS: Plugin = {
  name: "kernel",
  bind(bind) {
    bind.single(Tokens.Clock, { default: true }).toConstantValue(systemClock);
    bind.single(Tokens.IdGenerator, { default: true }).toConstantValue(uuidGenerator);
  },
};

let reveal: (kernel: Kernel) => KernelInternals;

/**
 * Connects plugins: a container, hooks and an event stream. `new Kernel()` has no plugins.
 * `Ensemble` adds the standard plugins. The first run or `boot()` boots all plugins.
 */
export class Kernel implements KernelApi {
  readonly hooks: EnsembleHooks;
  readonly container: Container;
  readonly #points = createHookPoints();
  readonly #bindings = new Bindings();
  readonly #hub = new EventHub();
  readonly #host = new PluginHost(this.#bindings, this.#points, this.#hub);
  readonly #plugins = new Map<string, Plugin>();
  readonly #shared = new Map<unknown, unknown>();
  readonly #internals: KernelInternals;
  #booting: Promise<void> | undefined;
  #disposing: Promise<void> | undefined;

  static {
    reveal = (kernel) => kernel.#internals;
  }

  /** @throws ValidationError for an unknown option or a value that is not a plugin. */
  constructor(o: { readonly plugins?: readonly Plugin[] | undefined } = {}) {
    checkOptions("Kernel", o, ["plugins"]);
    requireArray("Kernel plugins", o.plugins);
    this.hooks = facadeFor(this.#points, "kernel.hooks");
    this.container = this.#bindings.container;
    this.#internals = {
      points: this.#points,
      bindings: this.#bindings,
      hub: this.#hub,
      runs: new Set(),
      shared: (token, make) => this.#sharedValue(token, make),
      booted: () => this.#booting !== undefined,
      has: (plugin) =>
        typeof plugin === "string"
          ? this.#plugins.has(plugin)
          : this.#plugins.get(plugin.name) === plugin,
      addMissing: (plugins) => {
        if (this.#booting !== undefined || this.#disposing !== undefined) return;
        const given = [...this.#plugins.values()];
        const missing = plugins.filter(({ name }) => !this.#plugins.has(name));
        this.#plugins.clear(); // the last contribution applies: the user's
        for (const plugin of [...missing, ...given]) this.use(plugin);
      },
      attach: (ensemble) => this.#plugins.forEach((plugin) => plugin.attach?.(ensemble)),
      ready: () => this.boot(),
    };
    for (const plugin of o.plugins ?? []) this.use(plugin);
  }

  /** @throws ValidationError after boot, for a name in use, or for a value that is not a plugin. */
  use(plugin: Plugin): this {
    checkPlugin(plugin);
    if (this.#booting !== undefined || this.#disposing !== undefined) {
      throw new ValidationError(`Plugin '${plugin.name}' can't be added: the kernel has booted`, {
        hint: "Call use() before the first run.",
      });
    }
    if (this.#plugins.has(plugin.name))
      throw new ValidationError(
        `Plugin '${plugin.name}' is already there. Names of plugins must be unique.`,
      );
    this.#plugins.set(plugin.name, plugin);
    return this;
  }

  /** Boots once. Disposes plugins on failure. @throws the failure; ValidationError if disposed. */
  boot(): Promise<void> {
    if (this.#disposing !== undefined)
      return Promise.reject(new ValidationError("The kernel has been disposed"));
    this.#booting ??= this.#boot();
    return this.#booting;
  }

  /** Returns the plugins that bound a token, or `kernel.container`. Empty before booting. */
  providers(token: Token<unknown, "single" | "many">): readonly string[] {
    return this.#booting === undefined ? [] : this.#bindings.providers(token);
  }

  describe(): KernelDescription {
    return {
      plugins: [...this.#plugins.keys()],
      tokens: this.#bindings.describe(),
      hooks: allPoints(this.#points).flatMap((point) => point.describe()),
    };
  }

  /** Cancels all runs, then disposes of plugins in reverse order. @throws AggregateError. */
  dispose(): Promise<void> {
    this.#disposing ??= this.#dispose();
    return this.#disposing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #boot(): Promise<void> {
    try {
      this.#bindings.load(DEFAULTS);
      this.#host.load([...this.#plugins.values()]);
      await this.#host.start();
    } catch (error) {
      await this.#host.dispose().catch(() => undefined); // the boot failure is reported
      throw error;
    }
  }

  #sharedValue<T>(token: Token<T>, make: () => T): T {
    const known = this.#shared.get(token);
    if (known !== undefined) return known as T; // stored under this token
    const value = make();
    this.#shared.set(token, value);
    return value;
  }

  async #dispose(): Promise<void> {
    await this.#booting?.catch(() => undefined); // reported by boot()
    await Promise.all([...this.#internals.runs].map((end) => end()));
    await this.#host.dispose();
  }
}

/** @throws ValidationError unless the value is a kernel of this copy of the package. */
export function internalsOf(kernel: KernelApi): KernelInternals {
  if (kernel instanceof Kernel) return reveal(kernel);
  throw new ValidationError(`kernel must be a Kernel, got: ${preview(kernel)}`, {
    hint: "Make it with new Kernel() from the same copy of agentensemble; two installed copies can't share one.",
  });
}
