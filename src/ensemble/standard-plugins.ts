import type { Plugin } from "../contracts/plugin.js";
import { planDiagram } from "../diagram/plan-diagram.js";
import { serviceSecrets } from "../plugins/network/secrets/index.js";
import { agentsChat } from "../plugins/agents/chat/index.js";
import { agentsHandler } from "../plugins/agents/handler/index.js";
import { agentsReact } from "../plugins/agents/react/index.js";
import { agentsSynthesis } from "../plugins/agents/synthesis/index.js";
import { delegationPeer } from "../plugins/delegation/peer/index.js";
import { delegationPolicies } from "../plugins/delegation/policies/index.js";
import { guardrails } from "../plugins/guardrails/index.js";
import { contextFormat } from "../plugins/context-format/index.js";
import { memory } from "../plugins/memory/task-memory/index.js";
import { observabilityCapture } from "../plugins/observability/capture/index.js";
import { observabilityTrace } from "../plugins/observability/trace/index.js";
import { anthropicProvider } from "../plugins/providers/anthropic/index.js";
import { offlineProvider } from "../plugins/providers/offline/index.js";
import { openaiProvider } from "../plugins/providers/openai/index.js";
import { reflection } from "../plugins/reflection/index.js";
import { standardBudgets } from "../plugins/resilience/budget/index.js";
import { rateLimits } from "../plugins/resilience/rate-limit/index.js";
import { standardRetry } from "../plugins/resilience/retry/index.js";
import { tokenCounter } from "../plugins/resilience/token-counter/index.js";
import { review } from "../plugins/review/gate/index.js";
import { toolApproval } from "../plugins/review/tool-approval/index.js";
import { graph } from "../plugins/workflows/graph/index.js";
import { hierarchical } from "../plugins/workflows/hierarchical/index.js";
import { loop } from "../plugins/workflows/loop/index.js";
import { parallel } from "../plugins/workflows/parallel/index.js";
import { phases } from "../plugins/workflows/phases/index.js";
import { sequential } from "../plugins/workflows/sequential/index.js";

/**
 * Returns the plugins of a new kernel, in this order. The modules of the plugins are loaded at
 * their first use.
 */
export function standardPlugins(): readonly Plugin[] {
  return [
    sequential(),
    parallel(),
    phases(),
    loop(),
    graph(),
    agentsReact(),
    agentsChat(),
    agentsHandler(),
    agentsSynthesis(),
    hierarchical(),
    delegationPeer(),
    delegationPolicies(),
    guardrails(),
    review(),
    toolApproval(),
    standardRetry(),
    tokenCounter(),
    rateLimits(),
    standardBudgets(), // after the rate limits: a budget may expire while a call waits
    memory(),
    reflection(),
    contextFormat(),
    planDiagram(),
    observabilityCapture(),
    observabilityTrace(),
    serviceSecrets(),
    openaiProvider(),
    anthropicProvider(),
    offlineProvider(),
  ];
}
