import ts from "typescript";
import { expect } from "chai";
import { readProjectFile, typeScriptFiles } from "../support/project.js";

interface Source {
  readonly path: string;
  readonly text: string;
}

/** A function or a type in the outermost scope of a file. */
interface Definition {
  readonly kind: "function" | "type";
  readonly name: string;
  readonly path: string;
  /**
   * The text of a function's body without comments, with single spaces. Empty for types and
   * overloads.
   */
  readonly body: string;
  readonly statements: number;
}

const printer = ts.createPrinter({ removeComments: true });

/**
 * The functions that a statement defines, each with its body. A `const` declaration may contain
 * several.
 */
function functionsOf(statement: ts.Statement): readonly (readonly [string, ts.Node | undefined])[] {
  if (ts.isFunctionDeclaration(statement)) return [[statement.name?.text ?? "", statement.body]];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
    initializer !== undefined &&
    (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
      ? [[name.getText(), initializer.body] as const]
      : [],
  );
}

function definitionsIn({ path, text }: Source): readonly Definition[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((statement): readonly Definition[] => {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      return [{ kind: "type", name: statement.name.text, path, body: "", statements: 0 }];
    return functionsOf(statement).map(([name, body]) => ({
      kind: "function",
      name,
      path,
      body:
        body === undefined
          ? ""
          : printer.printNode(ts.EmitHint.Unspecified, body, file).replace(/\s+/g, " "),
      statements: body !== undefined && ts.isBlock(body) ? body.statements.length : 1,
    }));
  });
}

function groupsOf(
  definitions: readonly Definition[],
  keyOf: (definition: Definition) => string,
): readonly (readonly Definition[])[] {
  const groups = new Map<string, Definition[]>();
  for (const definition of definitions) {
    const key = keyOf(definition);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [definition]);
    else group.push(definition);
  }
  return [...groups.values()];
}

/**
 * Functions with one body, as `name (path)`. Shorter bodies count from 120 characters or four
 * statements on.
 */
function sameBodies(definitions: readonly Definition[]): readonly (readonly string[])[] {
  const large = definitions.filter(
    ({ body, statements }) => body !== "" && (statements > 3 || body.length > 120),
  );
  return groupsOf(large, ({ body }) => body)
    .filter((group) => group.length > 1)
    .map((group) => group.map(({ name, path }) => `${name} (${path})`));
}

/** Names that several files define. */
function repeatedNames(
  definitions: readonly Definition[],
  kind: Definition["kind"],
): readonly string[] {
  return groupsOf(
    definitions.filter((definition) => definition.kind === kind),
    ({ name }) => name,
  )
    .filter((group) => new Set(group.map(({ path }) => path)).size > 1)
    .map(([first]) => first?.name ?? "")
    .sort();
}

describe("the outermost scope of the sources", () => {
  const definitions = typeScriptFiles("src").flatMap((path) =>
    definitionsIn({ path, text: readProjectFile(path) }),
  );

  it("has no two functions with the same body", () => {
    expect(sameBodies(definitions)).to.deep.equal([]);
  });

  // The limit may only fall.
  it("shares at most 100 names of functions between files", () => {
    const names = repeatedNames(definitions, "function");
    expect(names.length, names.join(", ")).to.be.at.most(100);
  });

  // The limit may only fall.
  it("shares at most 35 names of types between files", () => {
    const names = repeatedNames(definitions, "type");
    expect(names.length, names.join(", ")).to.be.at.most(35);
  });

  it("is searched for bodies and names that occur twice", () => {
    const four = "const a = x(); const b = a + 1; x(b); return b;";
    const long = `x("${"a long text ".repeat(10)}")`;
    const one = `
      interface Place { readonly x: number }
      function first(x: X): number { ${four} }
      const second = (x: X): void => ${long};
      function small(x: X): number { return x(); }
      function overloaded(x: 1): void;
      function overloaded(x: 2): void;
      function overloaded(): void {}`;
    const other = `
      export type Place = string;
      export async function small(x: X): Promise<number> { return x(); }
      export const third = function (x: Y): number {
        // Why.
        ${four.replaceAll("; ", ";\n\n")}
      };
      const unlike = (y: X): number => { ${four.replaceAll("x(", "y(")} }, fourth = (x: X) =>
        ${long};`;
    const planted = [
      ...definitionsIn({ path: "one.ts", text: one }),
      ...definitionsIn({ path: "other.ts", text: other }),
    ];
    expect(sameBodies(planted)).to.deep.equal([
      ["first (one.ts)", "third (other.ts)"],
      ["second (one.ts)", "fourth (other.ts)"],
    ]);
    expect(repeatedNames(planted, "function")).to.deep.equal(["small"]);
    expect(repeatedNames(planted, "type")).to.deep.equal(["Place"]);
  });
});
