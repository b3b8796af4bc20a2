import type { BindToFluentSyntax, Container } from "inversify";
import type { EventStream } from "./events.js";
import type { EnsembleHooks } from "./hooks.js";
import type { Token } from "./token.js";
import type { Awaitable } from "./types.js";

/** Binds values to tokens; valid only during `bind`. */
export interface BindApi {
  /**
   * A token with one value. Two direct bindings of it are a boot error, unless one says `override`.
   * `default: true` gives way to any direct binding: what a plugin brings so that things work without configuration. Of several defaults that of the plugin
   * listed last holds.
   */
  single<T>(
    token: Token<T, "single">,
    o?: { readonly override?: boolean | undefined; readonly default?: boolean | undefined },
  ): BindToFluentSyntax<T>;
  /** Adds to a token that collects contributions. */
  many<T>(token: Token<T, "many">): BindToFluentSyntax<T>;
}

/** Look-ups once the kernel has booted. */
export interface PluginContext {
  readonly events: EventStream;
  get<T>(token: Token<T>): T;
  all<T>(token: Token<T, "many">): readonly T[];
}

/**
 * One capability. Steps, in dependency order for all plugins: `bind` (synchronous), `apply` (taps and listeners), then hooks freeze, then `start`.
 * `dispose` runs in the reverse order. An error in a step is a PluginError that names the plugin; an AgentEnsembleError of `start` is passed on as it is.
 */
export interface Plugin {
  readonly name: string;
  /** Names of plugins that must be there, and come first. */
  readonly dependsOn?: readonly string[] | undefined;
  bind?(bind: BindApi): void;
  apply?(ctx: { readonly hooks: EnsembleHooks; readonly events: EventStream }): void;
  start?(ctx: PluginContext): Awaitable<void>;
  dispose?(): Awaitable<void>;
}

/** The kernel as its users see it; the class is in `agentensemble/kernel`. */
export interface KernelApi {
  use(plugin: Plugin): this;
  readonly hooks: EnsembleHooks;
  readonly container: Container;
  /** The names of the plugins whose values a look-up of this token gives. */
  providers(token: Token<unknown, "single" | "many">): readonly string[];
  boot(): Promise<void>;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Returns the plugin as it is, with its types checked where it is written. */
export function definePlugin<P extends Plugin>(p: P): P {
  return p;
}
