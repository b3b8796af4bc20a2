import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.js";

export interface EmptyProps {
  readonly icon?: IconName | undefined;
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** What a view shows when it has nothing to show. */
export function Empty({ icon, title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      {icon !== undefined && <Icon name={icon} />}
      <b>{title}</b>
      {children}
    </div>
  );
}
