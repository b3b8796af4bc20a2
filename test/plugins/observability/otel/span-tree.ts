import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** Spans in memory, with readers. */
export class RecordedSpans {
  readonly exporter = new InMemorySpanExporter();
  readonly tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.exporter)],
  });

  get all(): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  named(name: string): readonly ReadableSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  one(name: string): ReadableSpan {
    const [span, ...more] = this.named(name);
    if (span === undefined || more.length > 0)
      throw new Error(
        `${more.length + (span === undefined ? 0 : 1)} spans named ${name}: ${this.all.map((s) => s.name).join(", ")}`,
      );
    return span;
  }

  /** Names with two spaces per level, in the order of their start. */
  tree(): readonly string[] {
    const ids = new Set(this.all.map((span) => span.spanContext().spanId));
    const began = (span: ReadableSpan): number => span.startTime[0] * 1e9 + span.startTime[1];
    const below = (parent: string | undefined, depth: number): string[] =>
      this.all
        .filter(
          ({ parentSpanContext }) =>
            (parentSpanContext !== undefined && ids.has(parentSpanContext.spanId)
              ? parentSpanContext.spanId
              : undefined) === parent,
        )
        .sort((a, b) => began(a) - began(b))
        .flatMap((span) => [
          `${"  ".repeat(depth)}${span.name}`,
          ...below(span.spanContext().spanId, depth + 1),
        ]);
    return below(undefined, 0);
  }
}

/** Milliseconds between two instants of spans. */
export function msBetween(
  [fromS, fromNs]: readonly [number, number],
  [toS, toNs]: readonly [number, number],
): number {
  return (toS - fromS) * 1000 + (toNs - fromNs) / 1e6;
}
