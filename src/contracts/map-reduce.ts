/** The place of a task in a map-reduce tree, as traces and diagrams show it. */
export interface MapReduceNode {
  /** `direct`: the one task that does all items at once, where they are small enough. */
  readonly nodeType: "map" | "reduce" | "final-reduce" | "direct";
  /** 0 for maps and the direct task, counted upwards to the final reduce. */
  readonly mapReduceLevel: number;
}
