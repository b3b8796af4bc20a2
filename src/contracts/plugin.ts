import type { BindToFluentSyntax, Container } from "inversify";
import type { EnsembleAccess } from "./ensemble-access.js";
import type { EventStream } from "./events.js";
import type { EnsembleHooks, LaneName } from "./hooks.js";
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
  /** Called with each ensemble that is made on a kernel which has the plugin. It must not run it before `start`. */
  attach?(ensemble: EnsembleAccess): void;
  dispose?(): Awaitable<void>;
}

/** What the plugins of a kernel bind and tap; `tokens` and `hooks` are empty before it has booted. */
export interface KernelDescription {
  /** By name, in the order in which the kernel got them. */
  readonly plugins: readonly string[];
  /** Tokens with a value, of the framework or of plugins, each with the plugins that bind it. `kernel.container` stands for a binding without a plugin. */
  readonly tokens: readonly { readonly token: string; readonly boundBy: readonly string[] }[];
  /** Lanes with taps, in the order in which they run; each tap as `plugin/tap`, in the order in which it is called. */
  readonly hooks: readonly {
    readonly hook: string;
    readonly lane: LaneName;
    readonly taps: readonly string[];
  }[];
}

/** The kernel as its users see it; the class is in `agentensemble/kernel`. */
export interface KernelApi {
  use(plugin: Plugin): this;
  readonly hooks: EnsembleHooks;
  readonly container: Container;
  /** The names of the plugins whose values a look-up of this token gives. */
  providers(token: Token<unknown, "single" | "many">): readonly string[];
  boot(): Promise<void>;
  /** Which plugin binds which token and taps which hook. */
  describe(): KernelDescription;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Returns the plugin as it is, with its types checked where it is written. */
export function definePlugin<P extends Plugin>(p: P): P {
  return p;
}
