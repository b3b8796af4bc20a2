/** Settings given with every call; they win over every configuration file. */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.quotePath=false",
  "protocol.ext.allow=never",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "diff.ignoreSubmodules=dirty",
  // Nothing goes on in the background, and nobody is asked for a passphrase: an agent does not sign in a person's name.
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "push.gpgSign=false",
  "log.showSignature=false",
  "advice.detachedHead=false",
];

/** What stands before the command. The two folders are fixed, so that no file in the workspace can lead git elsewhere. */
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

/** Variables of every call; they win over those of the caller. */
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
    GIT_ALLOW_PROTOCOL: "", // none, unless the call names some
    GIT_NO_LAZY_FETCH: "1",
    GIT_PROTOCOL_FROM_USER: "0",
    LC_ALL: "C.UTF-8",
  };
}
