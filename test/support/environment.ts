const replaced = new Map<string, string | undefined>();

function put(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** Sets environment variables, or unsets those that are `undefined`. The root hook restores them after the test. */
export function setEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (!replaced.has(name)) replaced.set(name, process.env[name]);
    put(name, value);
  }
}

export function restoreEnvironment(): void {
  for (const [name, value] of replaced) put(name, value);
  replaced.clear();
}
