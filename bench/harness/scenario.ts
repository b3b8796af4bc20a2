/** The ways of doing the same work that are compared. `hooks` is `promises` with bare hook calls, an abort check and AsyncLocalStorage around each unit. */
export const SIDES = ["promises", "hooks", "framework"] as const;
export type SideName = (typeof SIDES)[number];

/** The side with this name. @throws Error for another name. */
export function sideOf(name: string | undefined): SideName {
  const side = SIDES.find((known) => known === name);
  if (side === undefined) throw new Error(`Unknown side '${name}'. Known: ${SIDES.join(", ")}`);
  return side;
}

/** Does the whole work once and throws unless the result is right, so that no side can skip any of it. */
export type Work = () => Promise<unknown>;

/** Makes the work of one side. */
export type WorkOf = (side: SideName) => Work;

/** One line of the table. */
export interface Line {
  readonly title: string;
  readonly unit: string;
  readonly goal?: number;
  /** Whether the goal is an upper (default) or a lower bound. */
  readonly better?: "less" | "more";
}

/** Measures once: one value for each line of the scenario. */
export type Round = () => Promise<readonly number[]>;

/** Something that can be chosen with `--only`. */
export interface Scenario {
  readonly id: string;
  readonly lines: readonly Line[];
  readonly rounds: number;
  /** Makes the work of one side and runs it until it is compiled. Called in a process of that side's own. */
  prepare(side: SideName): Promise<Round>;
}
