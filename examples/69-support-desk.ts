// A support desk. The front desk transfers a customer to billing or to the technicians. The next
// message goes to the agent that answered last. A hook refuses transfers to billing for customers
// of the free plan.
// Run it: npm run example -- 69
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
import {
  Agent,
  Conversation,
  createToken,
  definePlugin,
  handoff,
  reject,
  runValue,
  tool,
} from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

interface Customer {
  readonly id: string;
  readonly plan: "free" | "pro";
}
const Customer = createToken<Customer>("customer");

const invoices = tool({
  name: "invoices",
  description: "The open invoices of the customer",
  effect: "read",
  execute: (_input, { run }) => `${run.get(Customer).id}: no. 4711, 240 EUR, due on Friday`,
});

const billing = new Agent({
  role: "Billing",
  goal: "Settle questions on invoices",
  tools: [invoices],
});
const technical: Agent = new Agent({
  role: "Technical",
  goal: "Solve faults",
  handoffs: () => [front],
});
const front: Agent = new Agent({
  role: "Front desk",
  goal: "Find the right colleague for the customer",
  handoffs: [
    handoff(billing, { description: "Transfer questions on invoices and refunds" }),
    technical,
  ],
});

const { model, name } = realOrScripted(({ messages, tools = [] }) => {
  const last = messages.at(-1);
  const question = messages.findLast(({ role }) => role === "user")?.content as string;
  const has = (tool: string): boolean => tools.some((one) => one.name === tool);
  if (last?.role === "tool" && last.isError === true)
    return "Billing is closed for your plan. Please write to us.";
  if (has("transfer_to_billing"))
    return question.includes("invoice")
      ? { toolCalls: [{ name: "transfer_to_billing", arguments: { reason: "an invoice" } }] }
      : { toolCalls: [{ name: "transfer_to_technical", arguments: { reason: "a fault" } }] };
  if (has("transfer_to_front_desk"))
    return question.includes("again") ? "Then hold the button for 10 s." : "Restart the router.";
  if (last?.role !== "tool" || last.toolName !== "invoices")
    return { toolCalls: [{ name: "invoices", arguments: { input: "" } }] };
  return `I see one invoice: ${last.content.slice(last.content.indexOf("no."))}.`;
});
console.log(`Model: ${name}\n`);

const planRules = definePlugin({
  name: "plan-rules",
  apply: ({ hooks }) =>
    hooks.beforeDelegation.tap(({ request, run }) =>
      request.agentRole === "Billing" && run.get(Customer).plan === "free"
        ? reject("billing is closed for this plan")
        : undefined,
    ),
});

await using desk = new Conversation({
  agent: front,
  model,
  maxHandoffs: 3,
  plugins: [planRules],
  on: (event) => {
    if (event.type === "delegation_completed" && event.request.mode === "handoff")
      console.log(`  ${event.delegatingAgentRole} -> ${event.workerRole}`);
    if (event.type === "delegation_failed") console.log(`  refused: ${event.reason}`);
  },
});

async function ask(customer: Customer, text: string): Promise<void> {
  console.log(`${customer.id}> ${text}`);
  const values = [runValue(Customer, customer)];
  const thread = desk.thread(`case-${customer.id}`, { owner: customer.id, values });
  const { agentRole, text: answer } = await thread.send(text);
  console.log(`${agentRole}: ${answer}`);
}

const ada: Customer = { id: "ada", plan: "pro" };
await ask(ada, "What is open on my invoice?");
await ask({ id: "ben", plan: "pro" }, "My router does not start.");
await ask({ id: "ben", plan: "pro" }, "It does not start again.");
await ask({ id: "eve", plan: "free" }, "Is my invoice paid?");
