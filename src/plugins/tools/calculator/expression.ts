import { InputProblem } from "../shared/input-problem.js";

/**
 * Maximum nesting of parentheses, signs and powers. It is far above real input and far below the
 * limit of the call stack.
 */
const DEEPEST = 200;

/**
 * Binding powers of the binary operators. The operand after `^` is a signed value, so `^`
 * associates to the right.
 */
const POWERS: Readonly<Record<string, number>> = Object.freeze({
  "+": 1,
  "-": 1,
  "*": 2,
  "/": 2,
  "%": 2,
});

/**
 * A Pratt parser that computes while it reads. `^` binds more tightly than a preceding sign: -2^2
 * is -4.
 */
class ExpressionReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): number {
    const value = this.#binary(0);
    const rest = this.#peek();
    if (rest !== undefined) throw invalid(`Unexpected character '${rest}' at position ${this.#at}`);
    return value;
  }

  #binary(least: number): number {
    let left = this.#signed();
    for (;;) {
      const operator = this.#peek() ?? "";
      const power = POWERS[operator] ?? 0;
      if (power <= least) return left;
      this.#at++;
      left = compute(operator, left, this.#binary(power));
    }
  }

  #signed(): number {
    if (++this.#depth > DEEPEST) throw invalid(`More than ${DEEPEST} levels of nesting`);
    const sign = this.#peek();
    let value: number;
    if (sign === "-" || sign === "+") {
      this.#at++;
      value = this.#signed();
      if (sign === "-") value = -value;
    } else {
      value = this.#power();
    }
    this.#depth--;
    return value;
  }

  #power(): number {
    const base = this.#primary();
    if (this.#peek() !== "^") return base;
    this.#at++;
    return base ** this.#signed();
  }

  #primary(): number {
    const next = this.#peek();
    if (next === undefined) throw invalid("Unexpected end of expression");
    if (/[\d.]/.test(next)) return this.#number();
    if (next !== "(") throw invalid(`Unexpected character '${next}'`);
    this.#at++;
    const value = this.#binary(0);
    if (this.#peek() !== ")") throw invalid("Missing closing parenthesis");
    this.#at++;
    return value;
  }

  #number(): number {
    const [token = ""] = /^[\d.]+/.exec(this.#text.slice(this.#at)) ?? [];
    const value = Number(token);
    if (Number.isNaN(value)) throw invalid(`Invalid number: ${token}`);
    this.#at += token.length;
    return value;
  }

  /** Returns the next character that is not white space, as a whole code point. */
  #peek(): string | undefined {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? undefined : String.fromCodePoint(code);
  }
}

function invalid(problem: string): InputProblem {
  return new InputProblem(`Invalid expression: ${problem}`);
}

function compute(operator: string, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0) throw new InputProblem("Division by zero");
      return left / right;
    default:
      if (right === 0) throw new InputProblem("Modulo by zero");
      return left % right;
  }
}

/**
 * Returns the value of an arithmetic expression in doubles. Supports `+ - * / %` (the remainder has
 * the sign of the dividend), `^` (right-associative), signs and parentheses. Names, functions and
 * exponent notation are not supported. Nothing is evaluated as code.
 * @throws InputProblem for an invalid expression
 */
export function valueOfExpression(expression: string): number {
  const value = new ExpressionReader(expression).whole();
  if (Number.isNaN(value)) throw new InputProblem("The result is not a number");
  return value;
}
