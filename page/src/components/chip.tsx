import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.js";

export interface ChipProps {
  readonly kind?:
    "running" | "done" | "failed" | "waiting" | "model" | "tool" | "delegate" | "line" | undefined;
  readonly icon?: IconName | undefined;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}

/** A short word in a rounded box. */
export function Chip({ kind, icon, title, children }: ChipProps): JSX.Element {
  return (
    <span class={kind === undefined ? "chip" : `chip ${kind}`} title={title}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </span>
  );
}
