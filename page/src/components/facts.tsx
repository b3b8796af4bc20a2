import type { ComponentChildren, JSX } from "preact";

export interface FactsProps {
  /** Name and value. A value of `undefined` is omitted. */
  readonly facts: readonly (readonly [name: string, value: ComponentChildren, title?: string])[];
  readonly isBig?: boolean | undefined;
}

/** Names and values next to each other. */
export function Facts({ facts, isBig = false }: FactsProps): JSX.Element {
  return (
    <dl class={isBig ? "facts big" : "facts"}>
      {facts.map(
        ([name, value, title]) =>
          value !== undefined && (
            <div key={name} title={title}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
