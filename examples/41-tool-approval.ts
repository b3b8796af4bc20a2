// Tool calls that wait for a person, because of the tool's declaration or a policy. The person may
// change the arguments or refuse the call.
// Run it: npm run example -- 41
import {
  Agent,
  definePlugin,
  Ensemble,
  ReviewDecision,
  Task,
  Tokens,
  tool,
  type ReviewHandler,
} from "agentensemble";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const sendMail = tool({
  name: "send_mail",
  description: "Sends a mail to a customer.",
  input: z.object({ to: z.string(), body: z.string() }),
  effect: "send",
  requireApproval: true,
  approvalDescription: ({ to, body }) => `Mail to ${to}: ${body}`,
  approvalRejection: ({ to }) => `The mail to ${to} was not sent: a person said no.`,
  execute: ({ to, body }) => {
    console.log(`  SENT to ${to}: ${body}`);
    return "sent";
  },
});

const refund = tool({
  name: "refund",
  description: "Pays money back to a customer, in euros.",
  input: z.object({ customer: z.string(), amount: z.number() }),
  effect: "send",
  execute: ({ customer, amount }) => {
    console.log(`  PAID ${amount} to ${customer}`);
    return "paid";
  },
});

const largeRefunds = definePlugin({
  name: "large-refunds",
  bind: (bind) =>
    bind.many(Tokens.ApprovalPolicy).toConstantValue({
      name: "large refunds",
      needsApproval: ({ tool: { name }, input }) =>
        name === "refund" &&
        (input as { amount: number }).amount > 100 &&
        "More than 100 euros are paid back.",
    }),
});

/**
 * Simulates a person at a screen. Edits a mail, reduces a refund, and refuses every call to the
 * press.
 */
const clerkOnDuty: ReviewHandler = ({ taskDescription, prompt }) => {
  console.log(`ASKED: ${taskDescription}\n  ${prompt?.split("\n")[0] ?? ""}`);
  if (taskDescription.includes("press@")) return ReviewDecision.exitEarly();
  if (taskDescription.startsWith("refund"))
    return ReviewDecision.edit('{"customer":"Ada","amount":100}');
  return ReviewDecision.edit("Dear Ada, the money is on its way.");
};

const { model, name, note } = realOrScripted([
  { toolCalls: [{ name: "refund", arguments: { customer: "Ben", amount: 20 } }] },
  { toolCalls: [{ name: "refund", arguments: { customer: "Ada", amount: 900 } }] },
  {
    toolCalls: [
      { name: "send_mail", arguments: { to: "ada@example.com", body: "money sent lol" } },
    ],
  },
  {
    toolCalls: [
      { name: "send_mail", arguments: { to: "press@example.com", body: "We pay everybody!" } },
    ],
  },
  "Ben got 20 euros and Ada 100; the press was not told.",
]);
console.log(`Model: ${name} (${note})\n`);

const agent = new Agent({ role: "Service", goal: "Settle complaints", tools: [sendMail, refund] });
const team = new Ensemble({
  model,
  tasks: [
    new Task({
      description:
        "Pay Ben 20 and Ada 900 euros back, write to ada@example.com that it is done, and tell press@example.com how kind we are.",
      agent,
    }),
  ],
  plugins: [largeRefunds],
  reviewHandler: clerkOnDuty,
  onToolCall: ({ toolName, toolResult }) => console.log(`${toolName} -> ${toolResult}`),
});
console.log(`\n${(await team.run()).raw}`);
await team.dispose();
