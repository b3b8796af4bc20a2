import type { KernelApi, Plugin } from "../contracts/plugin.js";
import { ValidationError } from "../contracts/errors.js";
import { Kernel, internalsOf, type KernelInternals } from "../kernel/kernel.js";
import { standardPlugins } from "./standard-plugins.js";

/** A kernel with the standard plugins, and its owner. */
export interface OpenKernel {
  readonly kernel: Kernel;
  readonly internals: KernelInternals;
  /** Whether the ensemble created the kernel. */
  readonly owned: boolean;
}

/**
 * Adds plugins to the given kernel, or creates a kernel with the standard plugins.
 *
 * @throws ValidationError for a value that is not a kernel, and for plugins of a kernel that has
 * booted.
 */
export function openKernel(
  what: string,
  o: { readonly kernel?: KernelApi | undefined; readonly plugins?: readonly Plugin[] | undefined },
): OpenKernel {
  const owned = o.kernel === undefined;
  const given = o.kernel ?? new Kernel();
  const internals = internalsOf(given);
  const kernel = given as Kernel; // internalsOf refuses anything else
  const { plugins = [] } = o;
  if (internals.booted() && plugins.length > 0)
    throw new ValidationError(`${what} plugins come too late: the given kernel has booted`, {
      hint: "Give the plugins to the kernel, before its first run.",
    });
  for (const plugin of plugins) kernel.use(plugin);
  internals.addMissing(standardPlugins());
  return { kernel, internals, owned };
}
