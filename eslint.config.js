import tseslint from "typescript-eslint";

/**
 * Times and ids come from the Clock and IdGenerator bindings, and no code uses other random
 * numbers. Replay and tests depend on this rule.
 */
const impure = [
  [
    "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    "Ask the Clock (Tokens.Clock) instead of Date.now().",
  ],
  [
    "NewExpression[callee.name='Date'][arguments.length=0]",
    "Ask the Clock (Tokens.Clock) instead of new Date().",
  ],
  ["CallExpression[callee.name='Date']", "Ask the Clock (Tokens.Clock) instead of Date()."],
  [
    "MemberExpression[object.name='Math'][property.name='random']",
    "Random numbers make runs unrepeatable; ids come from Tokens.IdGenerator.",
  ],
  [
    "MemberExpression[property.name='randomUUID']",
    "Ask the IdGenerator (Tokens.IdGenerator) for ids.",
  ],
  [
    "ImportSpecifier[imported.name='randomUUID']",
    "Ask the IdGenerator (Tokens.IdGenerator) for ids.",
  ],
].map(([selector, message]) => ({ selector, message }));

/**
 * V8 creates a hidden class for every object literal with a getter. The class keeps the scope of
 * the getter in memory until the next full collection.
 */
const getter = {
  selector: "ObjectExpression > Property[kind='get']",
  message: "Make it a class: a getter of an object literal keeps garbage alive.",
};
/** Files in the root of src are entry points. */
const beyondExports = {
  selector: "Program > :not(ExportNamedDeclaration[source], ExportAllDeclaration)",
  message: "A door only exports: put what acts into a folder.",
};
/** The files of the published package. */
const LIMITED = ["src/**/*.ts", "page/**/*.ts", "page/**/*.tsx"];
/** Texts of models reach the page. They must become text nodes, never HTML. */
const html = {
  selector:
    ":matches(JSXAttribute, JSXIdentifier)[name=/^(?:dangerouslySetInnerHTML|innerHTML)$/], JSXAttribute[name.name='dangerouslySetInnerHTML'], MemberExpression[property.name=/^(?:innerHTML|outerHTML|insertAdjacentHTML)$/]",
  message: "Make elements: HTML from texts would run scripts of models.",
};
const exportAll = { selector: "ExportAllDeclaration", message: "List the exported names." };

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "coverage/",
      "out/",
      "traces/",
      "create-agentensemble/",
      "examples/apps/",
      "bench/compare/",
      "site/",
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      // A reason of other code (of an AbortSignal, or a caught error) is thrown unchanged.
      "@typescript-eslint/only-throw-error": [
        "error",
        { allowThrowingUnknown: true, allowThrowingAny: true },
      ],
      "@typescript-eslint/prefer-promise-reject-errors": [
        "error",
        { allowThrowingUnknown: true, allowThrowingAny: true },
      ],
      // A loop along a chain of objects begins with `this`.
      "@typescript-eslint/no-this-alias": "off",
      // A method of an asynchronous contract may have nothing to wait for.
      "@typescript-eslint/require-await": "off",
      // Options and contracts are objects with methods. Validating and passing these objects reads
      // the methods as values.
      "@typescript-eslint/unbound-method": "off",
      eqeqeq: "error",
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { regex: "(^|/)dist(/|$)", message: "Import the sources, or the package by its name." },
          ],
        },
      ],
      "no-restricted-syntax": ["error", exportAll],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: LIMITED,
    rules: {
      "max-lines": ["error", { max: 400 }],
      "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
      complexity: ["error", 15],
      "max-params": ["error", 4],
      "no-console": "error",
      "no-restricted-syntax": ["error", exportAll, getter, ...impure],
    },
  },
  {
    files: ["page/**/*.ts", "page/**/*.tsx"],
    rules: { "no-restricted-syntax": ["error", exportAll, getter, html, ...impure] },
  },
  // The source of time and random numbers of the browser.
  {
    files: ["page/src/main.tsx"],
    rules: { "no-restricted-syntax": ["error", exportAll, getter, html] },
  },
  {
    files: ["src/*.ts"],
    rules: { "no-restricted-syntax": ["error", beyondExports, exportAll] },
  },
  // The main entry point exports all contracts.
  { files: ["src/index.ts"], rules: { "no-restricted-syntax": ["error", beyondExports] } },
  // The default Clock and IdGenerator: the only source of time and random numbers.
  { files: ["src/util/runtime.ts"], rules: { "no-restricted-syntax": ["error", exportAll] } },
  {
    files: ["test/**/*.ts"],
    rules: {
      // chai's assertions are getters: `expect(x).to.be.true;`
      "@typescript-eslint/no-unused-expressions": "off",
    },
  },
  {
    files: ["**/*.js", "**/*.mjs", "**/*.cjs"],
    extends: [tseslint.configs.base],
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error" },
  },
);
