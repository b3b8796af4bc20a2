/** The position of a task in a map-reduce tree, for traces and diagrams. */
export interface MapReduceNode {
  /** `direct`: one task that processes all items together. Used if the items are small enough. */
  readonly nodeType: "map" | "reduce" | "final-reduce" | "direct";
  /** 0 for map tasks and the direct task. The final reduce has the highest level. */
  readonly mapReduceLevel: number;
}
