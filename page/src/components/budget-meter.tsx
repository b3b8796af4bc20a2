import type { JSX } from "preact";
import type { BudgetState } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { formatCost, formatCount, formatDuration } from "../lib/format.js";
import { budgetParts } from "../lib/run/cost-rows.js";
import { Meter } from "./meter.js";

export interface BudgetMeterProps {
  readonly budget: BudgetState;
  readonly currency: string | undefined;
}

const NAMES = { tokens: "tokens", cost: "cost", durationMs: "time" } as const;

/** One limit of a budget: the used, the reserved and the remaining part. */
export function BudgetMeter({ budget, currency }: BudgetMeterProps): JSX.Element {
  const { limit, allowed, used, reserved, exceeded } = budget;
  const parts = budgetParts(budget);
  const text = (value: number): string =>
    limit === "cost"
      ? formatCost(value, currency)
      : limit === "tokens"
        ? formatCount(value)
        : formatDuration(value);
  const left = Math.max(0, allowed - used - reserved);
  return (
    <div class="limit">
      <div class="row">
        <span class="faint grow">
          budget of {NAMES[limit]}: {text(allowed)}
        </span>
        <b class={exceeded ? "over" : ""}>
          {exceeded ? "exceeded" : `${Math.round(parts.used * 100)} %`}
        </b>
      </div>
      <Meter
        label={`${text(used)} used, ${text(reserved)} reserved, ${text(left)} left of ${text(allowed)}`}
        total={1}
        parts={[
          { kind: exceeded ? "failed" : "accent", share: parts.used },
          { kind: "held", share: parts.reserved },
        ]}
      />
      <div class="faint">
        {text(used)} used · {text(reserved)} reserved · {text(left)} left
      </div>
    </div>
  );
}
