/** Variables that programs need to start. None is likely to contain a secret. */
const INHERITED = [
  ...[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
  ],
  ...[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
  ],
  ...[
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
  ],
];

/** Returns the environment of a child process: the inherited variables and the configured ones. */
export function childEnvironment(
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    // "()": a shell function
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...given };
}
