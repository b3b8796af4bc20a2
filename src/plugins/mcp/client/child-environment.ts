/** What a program needs to find its way; nothing that is likely to hold a secret. */
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

/** The environment of a child: the few inherited variables, and what is given for it. */
export function childEnvironment(
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const]; // "()": a shell function
  });
  return { ...Object.fromEntries(inherited), ...given };
}
