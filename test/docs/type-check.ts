import { writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { compilerProblems, installPackages } from "../support/compiler.js";
import { projectRoot, readProjectFile } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
};

/** A piece of TypeScript without a separate file. */
export interface Snippet {
  /** The name under which its problems are reported. */
  readonly title: string;
  readonly code: string;
}

/**
 * Variables that a fragment without imports may use without declaring them: the common objects of
 * the pages.
 */
const USUAL: Readonly<Record<string, string>> = {
  agent: "Agent",
  ensemble: "Ensemble",
  kernel: "Kernel",
  model: "ChatModel",
  output: "EnsembleOutput",
  run: "Run",
  scope: "TaskScope",
  task: "Task",
};

/**
 * Every name that the package root exports, including types: its own and those of the contracts.
 */
export function exportedNames(): ReadonlySet<string> {
  const sources = ["src/index.ts", "src/contracts/index.ts"].map(readProjectFile).join("\n");
  const lists = [...sources.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  return new Set(lists.flatMap((list) => (list[1] ?? "").match(/\w+/g) ?? []));
}

/**
 * Completes a fragment without imports: adds its names of the package root, and usual variables
 * that it does not declare.
 */
function complete(code: string, exported: ReadonlySet<string>): string {
  if (/^import /m.test(code)) return code;
  const words = new Set(code.match(/[A-Za-z_]\w*/g));
  const declares = (name: string): boolean =>
    new RegExp(`(const|let|class|function|interface|type) ${name}\\b`).test(code);
  const usual = Object.entries(USUAL).filter(([name]) => words.has(name) && !declares(name));
  const imported = new Set(
    [...words, ...usual.map(([, type]) => type)].filter(
      (name) => exported.has(name) && !declares(name),
    ),
  );
  return [
    `import { ${[...imported].join(", ")} } from "agentensemble";`,
    ...usual.map(([name, type]) => `declare const ${name}: ${type};`),
    code,
  ].join("\n");
}

/**
 * Returns the compiler's problems with snippets that are compiled together against the built
 * package, one line for each.
 */
export function problemsOf(snippets: readonly Snippet[]): readonly string[] {
  const folder = temporaryFolder();
  installPackages(folder);
  const exported = exportedNames();
  for (const [index, { code }] of snippets.entries())
    writeFileSync(join(folder, `snippet-${index}.ts`), complete(code, exported));
  return compilerProblems(folder, {
    target: "ES2023",
    lib: ["ES2023", "ESNext.Disposable"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    types: ["node", "mocha"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    experimentalDecorators: true,
    skipLibCheck: true,
  }).map((problem) =>
    problem.replace(
      /^snippet-(\d+)\.ts\([\d,]+\)/,
      (_, index) => snippets[Number(index)]?.title ?? "",
    ),
  );
}

/** Declarations of types, read against the built package. */
export class DeclaredTypes {
  readonly #program: ts.Program;
  readonly #titles: ReadonlyMap<string, string>;

  constructor(declarations: readonly Snippet[]) {
    // In the project's folder, so that `agentensemble` is found; nothing is written.
    const paths = declarations.map((_, index) =>
      join(projectRoot, "test/docs", `type-${index}.ts`),
    );
    const texts = new Map(declarations.map(({ code }, index) => [paths[index] ?? "", code]));
    this.#titles = new Map(declarations.map(({ title }, index) => [paths[index] ?? "", title]));
    this.#program = ts.createProgram({ rootNames: paths, options: OPTIONS, host: hostFor(texts) });
  }

  /**
   * The fields of each member of the union in the snippet of this title, by the literal `type`
   * field (or "").
   */
  fieldsByType(title: string): Readonly<Record<string, readonly string[]>> {
    const path = [...this.#titles].find(([, candidate]) => candidate === title)?.[0] ?? "";
    const alias = this.#program.getSourceFile(path)?.statements.find(ts.isTypeAliasDeclaration);
    if (alias === undefined) throw new Error(`${title} declares no type`);
    const checker = this.#program.getTypeChecker();
    const union = checker.getTypeFromTypeNode(alias.type);
    const members = union.isUnion() ? union.types : [union];
    const entries = members.map((member): [string, readonly string[]] => {
      const tag = member.getProperty("type");
      const literal = tag === undefined ? undefined : checker.getTypeOfSymbolAtLocation(tag, alias);
      return [
        literal?.isStringLiteral() === true ? literal.value : "",
        member.getProperties().map(({ name }) => name),
      ];
    });
    return Object.fromEntries(entries);
  }
}

function hostFor(files: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.getCurrentDirectory = () => projectRoot;
  host.fileExists = (file) => files.has(file) || fileExists.call(host, file);
  host.readFile = (file) => files.get(file) ?? readFile.call(host, file);
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const text = files.get(file);
    // The implied module format comes with `languageVersion`.
    return text === undefined
      ? getSourceFile.call(host, file, languageVersion, ...rest)
      : ts.createSourceFile(file, text, languageVersion);
  };
  return host;
}
