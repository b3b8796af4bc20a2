import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.js";

export interface EmptyProps {
  readonly icon?: IconName | undefined;
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The contents of a view without data. */
export function Empty({ icon, title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      {icon !== undefined && <Icon name={icon} />}
      <b>{title}</b>
      {children}
    </div>
  );
}
