/** Settings passed with every call. They override every configuration file. */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.quotePath=false",
  "protocol.ext.allow=never",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "diff.ignoreSubmodules=dirty",
  // No background work, and no prompt for a passphrase: an agent does not sign for a person.
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "push.gpgSign=false",
  "log.showSignature=false",
  "advice.detachedHead=false",
];

/**
 * Returns the arguments before the command. Both folders are fixed, so no file in the workspace can
 * redirect git.
 */
export function fixedArguments(gitDir: string, baseDir: string): readonly string[] {
  return [
    "git",
    "--no-pager",
    "--no-optional-locks",
    `--git-dir=${gitDir}`,
    `--work-tree=${baseDir}`,
    ...SETTINGS.flatMap((setting) => ["-c", setting]),
  ];
}

/** Environment variables of every call. They override those of the caller. */
export function fixedEnvironment(): Readonly<Record<string, string>> {
  return {
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
    GIT_EDITOR: "true",
    GIT_SEQUENCE_EDITOR: "true",
    GIT_PAGER: "cat",
    PAGER: "cat",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_ALLOW_PROTOCOL: "", // no protocol, unless the call allows some
    GIT_NO_LAZY_FETCH: "1",
    GIT_PROTOCOL_FROM_USER: "0",
    LC_ALL: "C.UTF-8",
  };
}
