import { globToRegex } from "./glob-pattern.js";

/** One line of a .gitignore file. */
interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** Tests an entry. `path` is relative to the folder of the rule. */
  readonly test: (path: string, name: string) => boolean;
  /** Length of the pattern if it matches a path; 0 if it matches a name. */
  readonly length: number;
}

/** Maximum number of rules read from one file. */
const MOST_RULES = 1_000;

type Compile = (regex: string) => { test(text: string): boolean };

function ruleOf(line: string, compile: Compile): IgnoreRule | undefined {
  let pattern = line.replace(/\r$/, "").replace(/(?<!\\) +$/, "");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const anchored = pattern.includes("/");
  pattern = pattern.replace(/^\//, "");
  if (pattern === "") return undefined;
  if (!anchored && /^[\w.-]+$/.test(pattern))
    return { negated, foldersOnly, test: (_path, name) => name === pattern, length: 0 };
  try {
    const regex = compile(
      globToRegex(pattern.endsWith("/**") ? `${pattern}/*` : pattern, { braces: false }),
    );
    return {
      negated,
      foldersOnly,
      test: (path, name) => regex.test(anchored ? path : name),
      length: pattern.length,
    };
  } catch {
    return undefined; // as in git, an invalid pattern matches nothing
  }
}

/** The ignore rules of a folder: its own rules first, then those of its parent folders. */
export class IgnoreRules {
  readonly #folder: string;
  readonly #rules: readonly IgnoreRule[];
  readonly #above: IgnoreRules | undefined;
  /** Cost of one check, in steps of a WorkLimit. */
  readonly cost: number;

  private constructor(
    folder: string,
    rules: readonly IgnoreRule[],
    above: IgnoreRules | undefined,
  ) {
    this.#folder = folder;
    this.#rules = rules;
    this.#above = above;
    this.cost = rules.reduce((sum, { length }) => sum + 20 + 50 * length, above?.cost ?? 0);
  }

  /** Creates the rules for entries below `folder` (relative to the root, empty for the root). */
  static async of(
    folder: string,
    lines: readonly string[],
    above?: IgnoreRules,
  ): Promise<IgnoreRules> {
    const { RE2JS } = await import("re2js");
    const rules = lines
      .slice(0, MOST_RULES)
      .flatMap((line) => ruleOf(line, (regex) => RE2JS.compile(regex)) ?? []);
    // the last matching line decides
    return new IgnoreRules(folder === "" ? "" : `${folder}/`, rules.reverse(), above);
  }

  /** Whether a file or folder is ignored. `path` is relative to the root. */
  ignores(path: string, name: string, isFolder: boolean): boolean {
    const own = path.slice(this.#folder.length);
    const rule = this.#rules.find(
      ({ foldersOnly, test }) => (isFolder || !foldersOnly) && test(own, name),
    );
    return rule === undefined
      ? (this.#above?.ignores(path, name, isFolder) ?? false)
      : !rule.negated;
  }
}
