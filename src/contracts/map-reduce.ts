/** The position of a task in a map-reduce tree, for traces and diagrams. */
export interface MapReduceNode {
  /** `direct`: one task for all items together, if they are small enough. */
  readonly nodeType: "map" | "reduce" | "final-reduce" | "direct";
  /** 0 for maps and the direct task, counted upwards to the final reduce. */
  readonly mapReduceLevel: number;
}
