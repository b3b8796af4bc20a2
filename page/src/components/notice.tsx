import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.js";

export interface NoticeProps {
  readonly kind: "info" | "waiting" | "failed";
  readonly icon?: IconName | undefined;
  /** Whether screen readers announce it immediately. */
  readonly isUrgent?: boolean | undefined;
  /** The possible action, after the text. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

const ICONS = { info: "doc", waiting: "waiting", failed: "failed" } as const;

/** A remark in a coloured box. */
export function Notice({ kind, icon, isUrgent, action, children }: NoticeProps): JSX.Element {
  return (
    <div class={`note ${kind}`} role={isUrgent === true ? "alert" : "status"}>
      <Icon name={icon ?? ICONS[kind]} />
      <span class="grow">{children}</span>
      {action}
    </div>
  );
}
