/**
 * Supported escape sequences: up, erase below, erase to the end of the line; colours change
 * nothing.
 */
const SEQUENCE = /^\u001B\[(\d*)([AJKm])/;

/**
 * A terminal without a window. It wraps lines, and joins them again when it becomes wider, as most
 * terminals do. An unknown sequence is an error.
 */
export class Screen {
  readonly isTTY = true;
  columns: number;
  rows: number;
  /** Rows of text. `joined`: whether the row continues the one before it. */
  #rows: { text: string; joined: boolean }[] = [{ text: "", joined: false }];
  #row = 0;
  #column = 0;
  /** The maximum length of a line. */
  widest = 0;

  constructor(columns: number, rows = 24) {
    this.columns = columns;
    this.rows = rows;
  }

  get text(): string {
    return this.#rows
      .map(({ text, joined }, n) => `${n === 0 || joined ? "" : "\n"}${text}`)
      .join("");
  }

  /** Whether the cursor is at the start of the last row. */
  get isAtLineStart(): boolean {
    return this.#column === 0 && this.#row === this.#rows.length - 1;
  }

  resize(columns: number): void {
    const lines = this.text.split("\n");
    this.columns = columns;
    this.#rows = lines.flatMap((line) => {
      const parts = line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""];
      return parts.map((text, n) => ({ text, joined: n > 0 }));
    });
    this.#row = this.#rows.length - 1; // the cursor stands at the end
    this.#column = this.#rows[this.#row]?.text.length ?? 0;
  }

  write(text: string): boolean {
    for (let rest = text; rest !== "";) {
      const sequence = SEQUENCE.exec(rest);
      if (sequence === null && rest.startsWith("\u001B")) throw new Error(JSON.stringify(rest));
      if (sequence === null) this.#put(rest.slice(0, 1));
      else this.#obey(sequence[2] ?? "", Number(sequence[1] === "" ? 1 : sequence[1]));
      rest = rest.slice(sequence?.[0].length ?? 1);
    }
    return true;
  }

  #obey(command: string, count: number): void {
    if (command === "A") this.#row = Math.max(0, this.#row - count);
    if (command === "J") this.#rows.length = this.#row + 1;
    const row = this.#rows[this.#row];
    if (row !== undefined && command !== "A" && command !== "m")
      row.text = row.text.slice(0, this.#column);
  }

  #put(character: string): void {
    if (character === "\r") return void (this.#column = 0);
    if (character === "\n") return this.#next(false);
    if (this.#column >= this.columns) this.#next(true);
    const row = this.#rows[this.#row] ?? { text: "", joined: false };
    row.text = `${row.text.slice(0, this.#column).padEnd(this.#column)}${character}${row.text.slice(this.#column + 1)}`;
    this.#column++;
    this.widest = Math.max(this.widest, row.text.length);
  }

  #next(joined: boolean): void {
    this.#row++;
    this.#column = 0;
    const row = this.#rows[this.#row];
    if (row === undefined) this.#rows.push({ text: "", joined });
    else row.joined = joined;
  }
}
