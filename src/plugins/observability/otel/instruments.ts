import type { Attributes, Counter, Histogram, Meter } from "@opentelemetry/api";
import type { VersionedNames } from "./semantic-names.js";
import { ATTRIBUTES, METRICS } from "./semantic-names.js";

/** Returns `count` boundaries, each `factor` times the previous one. */
function scale(first: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Number((first * factor ** i).toPrecision(6)));
}

/** The metrics of the conventions. All times are in seconds. */
export class Instruments {
  readonly #operation: Histogram;
  readonly #firstChunk: Histogram;
  readonly #workflow: Histogram;
  readonly #agent: Histogram;
  readonly #tool: Histogram;
  readonly #usage: Histogram | undefined;
  readonly #input: Counter | undefined;
  readonly #output: Counter | undefined;

  constructor(meter: Meter, names: VersionedNames) {
    const seconds = (name: string, description: string, boundaries: number[]): Histogram =>
      meter.createHistogram(name, {
        description,
        unit: "s",
        advice: { explicitBucketBoundaries: boundaries },
      });
    const tokens = { unit: "{token}" };
    this.#operation = seconds(
      names.operationDuration,
      "Duration of model calls",
      scale(0.01, 2, 14),
    );
    this.#firstChunk = seconds(
      names.timeToFirstChunk,
      "Time until the first chunk of a streamed answer",
      scale(0.01, 2, 14),
    );
    this.#workflow = seconds(
      METRICS.workflowDuration,
      "Duration of runs",
      [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200],
    );
    this.#agent = seconds(
      METRICS.agentDuration,
      "Duration of tasks done by agents",
      scale(0.1, 2, 13),
    );
    this.#tool = seconds(METRICS.toolDuration, "Duration of tool calls", scale(0.01, 2, 14));
    const { tokenUsage, inputTokens, outputTokens } = names;
    if (tokenUsage !== undefined)
      this.#usage = meter.createHistogram(tokenUsage, {
        ...tokens,
        description: "Tokens of model calls",
        advice: { explicitBucketBoundaries: scale(1, 4, 14) },
      });
    if (inputTokens !== undefined)
      this.#input = meter.createCounter(inputTokens, {
        ...tokens,
        description: "Input tokens of model calls",
      });
    if (outputTokens !== undefined)
      this.#output = meter.createCounter(outputTokens, {
        ...tokens,
        description: "Output tokens of model calls",
      });
  }

  modelCall(ms: number, firstChunkMs: number | undefined, attributes: Attributes): void {
    this.#operation.record(ms / 1000, attributes);
    if (firstChunkMs !== undefined) this.#firstChunk.record(firstChunkMs / 1000, attributes);
  }

  tokens(type: "input" | "output", count: number, attributes: Attributes): void {
    this.#usage?.record(count, { ...attributes, [ATTRIBUTES.tokenType]: type });
    (type === "input" ? this.#input : this.#output)?.add(count, attributes);
  }

  run(ms: number, attributes: Attributes): void {
    this.#workflow.record(ms / 1000, attributes);
  }

  agent(ms: number, attributes: Attributes): void {
    this.#agent.record(ms / 1000, attributes);
  }

  tool(ms: number, attributes: Attributes): void {
    this.#tool.record(ms / 1000, attributes);
  }
}
