import { join } from "node:path";
import ts from "typescript";
import { projectRoot, readProjectFile } from "../support/project.js";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node", "mocha"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  experimentalDecorators: true,
  skipLibCheck: true,
  noEmit: true,
};

/** A piece of TypeScript that has no file of its own. */
export interface Snippet {
  /** What its problems are reported under. */
  readonly title: string;
  readonly code: string;
}

/** Variables that a fragment without imports may use without declaring them: what every page talks about. */
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

/** Every name that the package root exports, types included: its own and those of the contracts. */
export function exportedNames(): ReadonlySet<string> {
  const sources = ["src/index.ts", "src/contracts/index.ts"].map(readProjectFile).join("\n");
  const lists = [...sources.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  return new Set(lists.flatMap((list) => (list[1] ?? "").match(/\w+/g) ?? []));
}

/** Completes a fragment without imports: the names of the package root it uses, and the usual variables it does not declare itself. */
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

/** Snippets compiled together against the built package, as a user's files would be. */
export class SnippetProgram {
  readonly #program: ts.Program;
  readonly #titles: ReadonlyMap<string, string>;

  constructor(snippets: readonly Snippet[]) {
    const exported = exportedNames();
    // Beside the package's own files, so that `agentensemble` and the development dependencies are found; nothing is written.
    const paths = snippets.map((_, index) => join(projectRoot, "test/docs", `snippet-${index}.ts`));
    const texts = new Map(
      snippets.map(({ code }, index) => [paths[index] ?? "", complete(code, exported)]),
    );
    this.#titles = new Map(snippets.map(({ title }, index) => [paths[index] ?? "", title]));
    this.#program = ts.createProgram({ rootNames: paths, options: OPTIONS, host: hostFor(texts) });
  }

  /** What the compiler has to say, one line for each problem. */
  problems(): readonly string[] {
    return ts.getPreEmitDiagnostics(this.#program).map(({ file, messageText }) => {
      const where =
        file === undefined ? "options" : (this.#titles.get(file.fileName) ?? file.fileName);
      return `${where}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
  }

  /** The fields of each member of the union that the snippet of this title declares, by the literal type of the member's field `type` (or ""). */
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
