/** The position of a task in a map-reduce tree, for traces and diagrams. */
export interface MapReduceNode {
  /** `direct`: one task that processes all items together, used if they are small enough. */
  readonly nodeType: "map" | "reduce" | "final-reduce" | "direct";
  /** 0 for map tasks and the direct task; increases up to the final reduce. */
  readonly mapReduceLevel: number;
}
