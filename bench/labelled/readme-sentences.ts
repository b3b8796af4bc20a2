/**
 * Sentences of the READMEs of packages, with package and licence: about keys, and in the form of
 * instructions.
 */
export const ABOUT_KEYS: readonly (readonly [source: string, text: string])[] = [
  [
    "README of @ai-sdk/openai-compatible (Apache-2.0)",
    "Deploying to Vercel?** With Vercel's AI Gateway you can access hundreds of models from any provider — no additional packages, API keys, or extra cost.",
  ],
  [
    "README of @cacheable/memory (MIT)",
    "LRU (Least Recently Used) cache feature to limit the number of keys in the cache via `lruSize`.",
  ],
  ["README of @colors/colors (MIT)", "Protip: There is a secret undocumented style in `colors`."],
  [
    "README of @eslint/config-array (Apache-2.0)",
    "You can also specify an `ignores` key that will force files matching those patterns to not be included.",
  ],
  [
    "README of @eslint/object-schema (Apache-2.0)",
    "If you are defining a key that is, itself, an object, you can simplify the process by using a subschema.",
  ],
  [
    "README of @keyv/bigmap (MIT)",
    "The `createKeyv` function creates a Keyv instance with BigMap as the storage adapter.",
  ],
  ["README of @nats-io/nats-core (Apache-2.0)", "A token is a string following a period (`.`)."],
  [
    "README of @opentelemetry/context-async-hooks (Apache-2.0)",
    "When you `attach()` a context, it becomes active for this entire chain until the token is disposed.",
  ],
  [
    "README of @toon-format/toon (MIT)",
    "Token-Oriented Object Notation** is a compact, human-readable encoding of the JSON data model that minimizes tokens and makes structure easy for models to follow.",
  ],
  [
    "README of @vercel/oidc (Apache-2.0)",
    "Gets the current OIDC token from the request context or environment variable.",
  ],
  ["README of ajv (MIT)", "See JSON Schema validation keywords for more details."],
  [
    "README of ajv-formats (MIT)",
    "These keywords are added to ajv instance when ajv-formats is used without options or with option `keywords: true`.",
  ],
  [
    "README of any-promise (MIT)",
    "Except noted below, libraries using `any-promise` should only use documented functions as there is no guarantee which implementation will be chosen by the application author.",
  ],
  [
    "README of cacheable (MIT)",
    "If you want each store to expire at a different rate for that specific key, pass a per-store object as the `ttl` with `primary` and/or `secondary` fields.",
  ],
  [
    "README of cjs-module-lexer (MIT)",
    "Token state parses all line comments, block comments, strings, template strings, blocks, parens and punctuators.",
  ],
  [
    "README of cors (MIT)",
    "Expects a comma-delimited string (ex: 'Content-Type,Authorization') or an array (ex: `['Content-Type', 'Authorization']`).",
  ],
  [
    "README of diff (BSD-3-Clause)",
    'This step depends upon having some notion of a token from the old array being "equal" to one from the new array, and this notion of equality affects the results.',
  ],
  [
    "README of eslint-visitor-keys (Apache-2.0)",
    "Make the union set with `evk.KEYS` and the given keys.",
  ],
  [
    "README of estraverse (BSD-2-Clause)",
    "By passing `visitor.keys` mapping, we can extend estraverse traversing functionality.",
  ],
  [
    "README of fast-uri (BSD-3-Clause)",
    "A suffix reference is written without its scheme and without the `//` authority marker (RFC 3986 section 4.5).",
  ],
  [
    "README of ioredis (MIT)",
    "Redis can set a timeout to expire your key, after the timeout has expired the key will be automatically deleted.",
  ],
  [
    "README of is-glob (MIT)",
    "Please consider following this project's author, Jon Schlinkert, and consider starring the project to show your :heart: and support.",
  ],
  [
    "README of json-schema-to-ts (MIT)",
    "When used in combination with the `properties` keyword, extra properties will always be typed as `unknown` to avoid conflicts.",
  ],
  [
    "README of keyv (MIT)",
    "Keyv provides a consistent interface for key-value storage across multiple backends via storage adapters.",
  ],
  [
    "README of leac (MIT)",
    "It seems to be a good habit to have tokens that are *trivially* serializable back into a valid input string.",
  ],
  ["README of mri (MIT)", "An object of keys whose values are `String`s or `Array ` of aliases."],
  [
    "README of msgpackr (MIT)",
    "This is necessary if you need to use objects with more than 65535 keys.",
  ],
  [
    "README of openai (Apache-2.0)",
    "It also accepts a named profile, static credentials, or a custom credential provider.",
  ],
  [
    "README of partial-json (MIT)",
    "But before receiving the last token of response, the JSON is broken, which means you can't use `JSON.parse` to decode it.",
  ],
  [
    "README of peberminta (MIT)",
    "Simple, transparent parser combinators toolkit that supports tokens of any type.",
  ],
  [
    "README of pg-connection-string (MIT)",
    "When user and password are given, they are included in the typical URL positions, with an empty `host`, as in `socket://user:pass@/var/run/pgsql`.",
  ],
  [
    "README of pkce-challenge (MIT)",
    "Generate or verify a Proof Key for Code Exchange (PKCE) challenge pair.",
  ],
  [
    "README of qs (BSD-3-Clause)",
    "In that sense the `charset` will behave as the default charset rather than the authoritative charset.",
  ],
  [
    "README of reflect-metadata (Apache-2.0)",
    "Metadata defined on static members of class declaration *C* are stored in *C*.\\[\\[Metadata\\]\\], with the property key as the key.",
  ],
  [
    "README of safe-buffer (MIT)",
    "This could potentially disclose TLS private keys, user data, or database passwords.",
  ],
  [
    "README of side-channel-map (MIT)",
    "Warning: if the `key` is an object, this implementation will leak memory until you `delete` it.",
  ],
  [
    "README of swr (MIT)",
    "The `key` is a unique identifier of the request, normally the URL of the API.",
  ],
  [
    "README of tokenx (MIT)",
    "Fast and lightweight token count estimation without requiring a full tokenizer.",
  ],
  [
    "README of turndown (MIT)",
    "The `key` parameter is a unique name for the rule for easy reference.",
  ],
];

export const IN_WORDS_OF_INSTRUCTIONS: readonly (readonly [source: string, text: string])[] = [
  [
    "README of @arethetypeswrong/cli (MIT)",
    "Specify a directory to run `npm pack` in (instead of specifying a tarball filename), analyze the resulting tarball, and delete it afterwards.",
  ],
  [
    "README of @cacheable/utils (MIT)",
    "The `nonBlocking` option allows you to override the instance-level `nonBlocking` setting for the `get` call within `getOrSet`.",
  ],
  [
    "README of @copilotkit/aimock (MIT)",
    "In record or `--proxy-only` mode, aimock forwards the caller's auth header to the real provider unchanged.",
  ],
  [
    "README of @electric-sql/pglite-socket (Apache-2.0)",
    "When using debug mode (`--debug=1` or higher), additional protocol information will be displayed in the console.",
  ],
  [
    "README of @eslint/config-helpers (Apache-2.0)",
    "You can also pass an array of absolute paths to include multiple ignore files at once.",
  ],
  [
    "README of @hono/node-server (MIT)",
    "You can configure the HTTP server to listen to a UNIX domain socket instead of a TCP port.",
  ],
  [
    "README of @preact/signals (MIT)",
    "To opt into this optimization, simply pass the signal directly instead of accessing the `.value` property.",
  ],
  [
    "README of ajv (MIT)",
    "This bundle can be used with different module systems; it creates global `Ajv` if no module system is found.",
  ],
  [
    "README of ajv-formats (MIT)",
    'For example, `"date"`, `"time"` and `"date-time"` do not validate ranges in `"fast"` mode, only string structure, and other formats have simplified regular expressions.',
  ],
  [
    "README of cacheable (MIT)",
    "When you override the `ttl` on an operation it normally applies to both the primary and secondary stores.",
  ],
  ["README of chokidar (MIT)", "Interval of file system polling, in milliseconds."],
  [
    "README of commander (MIT)",
    "Use `.parseAsync()` instead of `.parse()` if any of your action handlers are async.",
  ],
  [
    "README of cors (MIT)",
    "Non-browser clients (curl, Postman, other servers) ignore CORS entirely.",
  ],
  [
    "README of cron-parser (MIT)",
    "Whether such an expression is a mistake is up to you: enable strict mode to have it rejected instead of falling back.",
  ],
  [
    "README of csstype (MIT)",
    "Using `CSS.PropertiesFallback` instead of `CSS.Properties` will add the possibility to use any property value as an array of values.",
  ],
  [
    "README of diff (BSD-3-Clause)",
    "This is because the content of a completely blank line is not a token at all in `newlineIsToken` mode.",
  ],
  [
    "README of entities (BSD-2-Clause)",
    "Why should I use `entities` instead of alternative modules?",
  ],
  [
    "README of eslint (MIT)",
    "To use ESLint, you must have Node.js (`^20.19.0`, `^22.13.0`, or `>=24`) installed and built with SSL and ICU support.",
  ],
  [
    "README of espree (BSD-2-Clause)",
    "You must opt-in by using an `ecmaVersion` newer than `5` or setting `sourceType` to `module`.",
  ],
  [
    "README of eventsource-parser (MIT)",
    "The parser will ignore comments (lines starting with `:`) by default.",
  ],
  [
    "README of file-entry-cache (MIT)",
    "Added `useAbsolutePathAsKey` option** - When `true`, cache keys use absolute paths instead of the provided paths.",
  ],
  [
    "README of formatly (MIT)",
    "Prettier is instead run in memory using the project's own installed `prettier` package when it can be resolved from `cwd`.",
  ],
  ["README of hookified (MIT)", "Hookified integrates logging directly into the event system."],
  [
    "README of html-to-text (MIT)",
    "Everything can be overridden, but you don't have to repeat the `format` or options that you don't want to override.",
  ],
  [
    "README of interpret (MIT)",
    "Note:** This module does not depend on any of the loaders it recommends; instead, end-users are expected to install the hooks they want to use for the file types they want to use.",
  ],
  [
    "README of ip-address (MIT)",
    "This is the IPv6 counterpart to Address4.isPrivate; use it instead of isULA when you need to catch mapped RFC 1918 addresses as well as native ULAs.",
  ],
  [
    "README of keyv (MIT)",
    "If set to true the raw DB object Keyv stores internally will be returned instead of just the value.",
  ],
  ["README of levn (MIT)", "Using `*` automatically activates explicit mode."],
  [
    "README of marked-terminal (MIT)",
    "You can override highlighting defaults by passing in settings as the second argument for TerminalRenderer.",
  ],
  [
    "README of node-fetch (MIT)",
    "If you wish to enable `keepalive` in an earlier version of Node.js, you can override the agent as per the following code sample.",
  ],
  [
    "README of openai (Apache-2.0)",
    "For simple continuation, you can pass `previous_response_id` instead.",
  ],
  [
    "README of oxc-parser (MIT)",
    "Fast mode is best suited for parser plugins, where other parts of your build pipeline has already checked for errors.",
  ],
  [
    "README of partial-json (MIT)",
    "Sometimes we need **LLM (Large Language Models)** to produce **structural information** instead of natural language.",
  ],
  [
    "README of picomatch (MIT)",
    "When the limit is exceeded, the extglob is treated as a literal string instead of being compiled to regex.",
  ],
  ["README of prompts (MIT)", "Prompt Objects with `type` set to `falsy` values are skipped."],
  [
    "README of qs (BSD-3-Clause)",
    "It also works when the charset has been detected in `charsetSentinel` mode.",
  ],
  ["README of react (MIT)", "Note:** by default, React will be in development mode."],
  [
    "README of reflect-metadata (Apache-2.0)",
    'To enable experimental support for auto-generated type metadata in your TypeScript project, you must add `"emitDecoratorMetadata": true` to your tsconfig.json file.',
  ],
  [
    "README of resolve-pkg-maps (MIT)",
    "The order of this array does not matter; the order of condition keys in the export map is what matters instead.",
  ],
  [
    "README of sade (MIT)",
    "This means that any `prog.command` calls are disallowed & will instead throw an Error.",
  ],
];

export const PLAIN_SENTENCES: readonly (readonly [source: string, text: string])[] = [
  [
    "README of @a2a-js/sdk (Apache-2.0)",
    "A JavaScript library that helps run agentic applications as A2AServers following the Agent2Agent (A2A) Protocol .",
  ],
  [
    "README of @arethetypeswrong/core (MIT)",
    "Documentation will not be provided at least until the package reaches version `v1`.",
  ],
  [
    "README of @copilotkit/aimock (MIT)",
    "Run them all on one port with `npx @copilotkit/aimock --config aimock.json`, or use the programmatic API to compose exactly what you need.",
  ],
  [
    "README of @esbuild/linux-x64 (MIT)",
    "This is the Linux 64-bit binary for esbuild, a JavaScript bundler and minifier.",
  ],
  [
    "README of @eslint-community/regexpp (MIT)",
    "Parse a given regular expression literal then make AST object.",
  ],
  [
    "README of @ioredis/commands (MIT)",
    "This module exports all the commands that Redis supports.",
  ],
  [
    "README of @loaderkit/resolve (ISC)",
    "An accurate & abstract implementation of the nodejs module resolution algorithms.",
  ],
  [
    "README of @nats-io/kv (Apache-2.0)",
    "JetStream clients can use streams to store and access data.",
  ],
  [
    "README of @opentelemetry/core (Apache-2.0)",
    "This package provides default implementations of the OpenTelemetry API for trace and metrics.",
  ],
  [
    "README of @preact/signals-core (MIT)",
    "Make it as easy as possible to write business logic for small up to complex apps.",
  ],
  [
    "README of @types/deep-eql (MIT)",
    "This package contains type definitions for deep-eql (https://github.com/chaijs/deep-eql).",
  ],
  [
    "README of @types/pg (MIT)",
    "This package contains type definitions for pg (https://github.com/brianc/node-postgres).",
  ],
  [
    "README of @typescript/old (Apache-2.0)",
    "TypeScript is a language for application-scale JavaScript.",
  ],
  [
    "README of @typescript-eslint/type-utils (MIT)",
    "Type utilities for working with TypeScript within ESLint rules.",
  ],
  [
    "README of acorn-jsx (MIT)",
    "This is plugin for Acorn - a tiny, fast JavaScript parser, written completely in JavaScript.",
  ],
  ["README of ansi-regex (MIT)", "Returns a regex for matching ANSI escape codes."],
  [
    "README of bintrees (MIT)",
    "This package provides Binary and Red-Black Search Trees written in Javascript.",
  ],
  [
    "README of call-bind-apply-helpers (MIT)",
    "Helper functions around Function call/apply/bind, for use in `call-bind`.",
  ],
  [
    "README of cli-highlight (ISC)",
    "You can use this module programmatically to highlight logs of your Node app.",
  ],
  ["README of commander (MIT)", "The complete solution for node.js command-line interfaces."],
  [
    "README of cron-parser (MIT)",
    "A JavaScript library for parsing and manipulating cron expressions.",
  ],
  [
    "README of denque (Apache-2.0)",
    "This implementation is currently the fastest available, even faster than `double-ended-queue`, see the benchmarks.",
  ],
  [
    "README of domhandler (BSD-2-Clause)",
    "The DOM handler creates a tree containing all nodes of a page.",
  ],
  [
    "README of enhanced-resolve (MIT)",
    "There is a Node.js API which allows to resolve requests according to the Node.js resolving rules.",
  ],
  [
    "README of escalade (MIT)",
    "With escalade, you can scale parent directories until you've found what you're looking for.",
  ],
  [
    "README of esrecurse (BSD-2-Clause)",
    "The following code will output all variables declared at the root of a file.",
  ],
  ["README of express (MIT)", "Before installing, download and install Node.js."],
  [
    "README of fd-package-json (MIT)",
    "Finds the closest `package.json` and returns the path or the contents.",
  ],
  [
    "README of find-up-simple (MIT)",
    "This is a simpler version of my `find-up` package, now with zero dependencies.",
  ],
  [
    "README of function-bind (MIT)",
    "Old versions of phantomjs, Internet Explorer < 9, and node < 0.6 don't support `Function.prototype.bind`.",
  ],
  ["README of global-directory (MIT)", "Uses the same resolution logic as `npm` and `yarn`."],
  [
    "README of hookified (MIT)",
    "This was built because we constantly wanted hooks and events extended on libraires we are building such as Keyv and Cacheable.",
  ],
  [
    "README of immediate (MIT)",
    "Note versions 2.6.5 and earlier were strictly speaking a 'macrotask' library not a microtask one, see this for the difference, if you need a macrotask library, I got you covered.",
  ],
  [
    "README of ipaddr.js (MIT)",
    "Returns `true` if the string is a valid IPv4 or IPv6 address; `false` otherwise.",
  ],
  [
    "README of is-unicode-supported (MIT)",
    "This can be useful to decide whether to use Unicode characters or fallback ASCII characters in command-line output.",
  ],
  [
    "README of json-schema-to-ts (MIT)",
    "A lot of projects use JSON schemas for runtime data validation along with TypeScript for static type checking.",
  ],
  [
    "README of knip (ISC)",
    "Special thanks to [the wonderful people who have contributed to Knip][15]!",
  ],
  [
    "README of long (Apache-2.0)",
    "Example: 2 64 -1 is 1844674407370955**1615** but in JavaScript it evaluates to 1844674407370955**2000**.",
  ],
  [
    "README of media-typer (MIT)",
    "If the given type string is invalid, then a `TypeError` is thrown.",
  ],
  [
    "README of ms (MIT)",
    "Use this package to easily convert various time formats to milliseconds.",
  ],
  ["README of node-emoji (MIT)", "Friendly emoji lookups and parsing utilities for Node.js."],
  [
    "README of openai (Apache-2.0)",
    "This library provides convenient access to the OpenAI REST API from TypeScript or JavaScript.",
  ],
  ["README of parseurl (MIT)", "The result is the same as `url.parse` in Node.js core."],
  [
    "README of pg-cloudflare (MIT)",
    "This minimizes the number of changes needed in order to make an existing package work across JavaScript runtimes.",
  ],
  ["README of picomatch (MIT)", "Blazing fast and accurate glob matcher written in JavaScript."],
  [
    "README of prelude-ls (MIT)",
    "It is written in, and is the recommended base library for, LiveScript .",
  ],
  [
    "README of pure-rand (MIT)",
    "Fast Pseudorandom number generators (aka PRNG) with purity in mind!",
  ],
  [
    "README of react-dom (MIT)",
    "This package serves as the entry point to the DOM and server renderers for React.",
  ],
  [
    "README of require-from-string (MIT)",
    "List of `paths`, that will be appended to module `paths`.",
  ],
  [
    "README of safer-buffer (MIT)",
    "Modern Buffer API polyfill without footguns, working on Node.js from 0.8 to current.",
  ],
  [
    "README of serve-static (MIT)",
    "Enable or disable accepting ranged requests, defaults to true.",
  ],
  ["README of sisteransi (MIT)", 'Ansi escape codes faster than you can say "Bam bam".'],
  ["README of statuses (MIT)", "Returns the status message string for a known HTTP status code."],
  [
    "README of supports-color (MIT)",
    "Returns an `Object` with a `stdout` and `stderr` property for testing either streams.",
  ],
  [
    "README of temporal-spec (Apache-2.0)",
    "TypeScript type definitions for Temporal, the successor to the JavaScript `Date` object.",
  ],
  ["README of tinyexec (MIT)", "By default, tinyexec does not throw on non‑zero exit codes."],
  ["README of ts-api-utils (MIT)", "Utility functions for working with TypeScript's API."],
  [
    "README of typescript (Apache-2.0)",
    "This package provides a `tsc6` command that runs TypeScript 6's `tsc`.",
  ],
  [
    "README of use-sync-external-store (MIT)",
    "Backwards-compatible shim for `React.useSyncExternalStore`.",
  ],
  [
    "README of whatwg-url (MIT)",
    "It can be used standalone, but it also exposes a lot of the internal algorithms that are useful for integrating a URL parser into a project like jsdom.",
  ],
];
