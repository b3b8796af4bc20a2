/**
 * Imports an optional package when it is first needed. The specifier is not a literal, so bundlers
 * do not look for the package and the program resolves it at run time.
 * @throws the loader's error, with `code` `ERR_MODULE_NOT_FOUND` when the package is not installed.
 */
export async function importOptional<T>(specifier: string): Promise<T> {
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ specifier)) as T; // the caller names the package's type
}

/**
 * Returns the address of an optional package, for a thread that imports it. Bundlers do not look for the package either.
 * @throws the loader's error, with `code` `ERR_MODULE_NOT_FOUND` when the package is not installed; Error in a bundle of CommonJS.
 */
export function addressOfOptional(specifier: string): string {
  const { resolve } = import.meta as { readonly resolve?: (name: string) => string }; // bundles of CommonJS lack it
  if (resolve === undefined)
    throw new Error(`a bundle of CommonJS can't look for ${specifier}: bundle to ES modules`);
  return resolve(specifier);
}
