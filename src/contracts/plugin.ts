import type { BindToFluentSyntax, Container } from "inversify";
import type { EnsembleAccess } from "./ensemble-access.js";
import type { EventStream } from "./events.js";
import type { EnsembleHooks, LaneName } from "./hooks.js";
import type { Token } from "./token.js";
import type { Awaitable } from "./types.js";

/** Binds values to tokens. Valid only during `bind`. */
export interface BindApi {
  /**
   * Binds a token with one value. Two direct bindings are a boot error, unless one has `override`.
   * `default: true` marks a binding that any direct binding replaces: a plugin's value for use
   * without configuration. If several plugins bind a default, the last plugin's applies.
   */
  single<T>(
    token: Token<T, "single">,
    o?: { readonly override?: boolean | undefined; readonly default?: boolean | undefined },
  ): BindToFluentSyntax<T>;
  /** Adds to a token that collects contributions. */
  many<T>(token: Token<T, "many">): BindToFluentSyntax<T>;
}

/** Look-ups after the kernel has booted. */
export interface PluginContext {
  readonly events: EventStream;
  get<T>(token: Token<T>): T;
  all<T>(token: Token<T, "many">): readonly T[];
}

/**
 * One capability. Steps, in dependency order for all plugins: `bind` (synchronous), `apply` (taps
 * and listeners), then hooks freeze, then `start`. `dispose` runs in the reverse order. An error in
 * a step becomes a PluginError with the plugin's name. An AgentEnsembleError of `start` is passed
 * on unchanged.
 */
export interface Plugin {
  readonly name: string;
  /** Names of required plugins, which come first. */
  readonly dependsOn?: readonly string[] | undefined;
  bind?(bind: BindApi): void;
  apply?(ctx: { readonly hooks: EnsembleHooks; readonly events: EventStream }): void;
  start?(ctx: PluginContext): Awaitable<void>;
  /**
   * Called with each ensemble created on a kernel with the plugin. Must not run the ensemble before
   * `start`.
   */
  attach?(ensemble: EnsembleAccess): void;
  /** `events`: the stream of the kernel that ends, for a plugin that several kernels share. */
  dispose?(ctx: { readonly events: EventStream }): Awaitable<void>;
}

/** The bindings and taps of a kernel's plugins. `tokens` and `hooks` are empty before booting. */
export interface KernelDescription {
  /** Names in the order of registration. */
  readonly plugins: readonly string[];
  /**
   * Tokens with a value, of the framework or of plugins, each with the plugins that bind it.
   * `kernel.container` represents bindings without a plugin.
   */
  readonly tokens: readonly { readonly token: string; readonly boundBy: readonly string[] }[];
  /**
   * Lanes with taps, in the order in which they run; each tap as `plugin/tap`, in the order of the
   * calls.
   */
  readonly hooks: readonly {
    readonly hook: string;
    readonly lane: LaneName;
    readonly taps: readonly string[];
  }[];
}

/** The kernel's API for its users. The class is exported by `agentensemble/kernel`. */
export interface KernelApi {
  use(plugin: Plugin): this;
  readonly hooks: EnsembleHooks;
  readonly container: Container;
  /** Returns the names of the plugins that bound the value of this token. */
  providers(token: Token<unknown, "single" | "many">): readonly string[];
  boot(): Promise<void>;
  /** Returns the bindings and taps of each plugin. */
  describe(): KernelDescription;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Returns the plugin unchanged. Checks its types at its definition. */
export function definePlugin<P extends Plugin>(p: P): P {
  return p;
}
