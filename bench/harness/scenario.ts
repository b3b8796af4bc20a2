/**
 * The compared implementations of the same work. `hooks` is `promises` with bare hook calls, an
 * abort check and AsyncLocalStorage around each unit.
 */
export const SIDES = ["promises", "hooks", "framework"] as const;
export type SideName = (typeof SIDES)[number];

/** Returns the side with this name. @throws Error for another name. */
export function sideOf(name: string | undefined): SideName {
  const side = SIDES.find((known) => known === name);
  if (side === undefined) throw new Error(`Unknown side '${name}'. Known: ${SIDES.join(", ")}`);
  return side;
}

/**
 * Executes the whole work once. Throws unless the result is correct: no side can skip a part of the
 * work.
 */
export type Work = () => Promise<unknown>;

/** Creates the work of one side. */
export type WorkOf = (side: SideName) => Work;

/** One line of the table. */
export interface Line {
  readonly title: string;
  readonly unit: string;
  readonly goal?: number;
  /** Whether the goal is an upper (default) or a lower bound. */
  readonly better?: "less" | "more";
}

/** Measures once. Returns one value for each line of the scenario. */
export type Round = () => Promise<readonly number[]>;

/** A scenario, selected with `--only`. */
export interface Scenario {
  readonly id: string;
  readonly lines: readonly Line[];
  readonly rounds: number;
  /**
   * Creates the work of one side and runs it until it is compiled. Called in a separate process for
   * each side.
   */
  prepare(side: SideName): Promise<Round>;
}
