/**
 * Imports an optional package at its first use. The specifier is not a literal. Bundlers therefore
 * skip the package, and the program resolves it at run time.
 * @throws the loader's error, with `code` `ERR_MODULE_NOT_FOUND` if the package is not installed.
 */
export async function importOptional<T>(specifier: string): Promise<T> {
  // The caller names the type.
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ specifier)) as T;
}

/**
 * Returns the URL of an optional package, for a thread that imports it. Bundlers skip the package.
 * @throws the loader's error, with `code` `ERR_MODULE_NOT_FOUND` if the package is not installed;
 * Error in a CommonJS bundle.
 */
export function addressOfOptional(specifier: string): string {
  // Missing in CommonJS bundles.
  const { resolve } = import.meta as { readonly resolve?: (name: string) => string };
  if (resolve === undefined)
    throw new Error(`a bundle of CommonJS can't look for ${specifier}: bundle to ES modules`);
  return import.meta.resolve(specifier); // Bun requires the call on `import.meta`
}

/** Returns whether an optional package can be loaded. Loads nothing. */
export function isOptionalInstalled(specifier: string): boolean {
  try {
    return addressOfOptional(specifier) !== "";
  } catch {
    return false;
  }
}
