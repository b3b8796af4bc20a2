// A NestJS module whose providers are the framework's tokens. A token is a symbol at run time, so
// it can name a provider of Nest.
import { Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { Agent, createToken, Ensemble, Task, Tokens, tool, type ChatModel } from "agentensemble";
import { Kernel } from "agentensemble/kernel";
import { openai } from "agentensemble/providers/openai";
import { ScriptedModel } from "agentensemble/testing";
import { z } from "zod";

/**
 * A service of the application, created by Nest. Tools of the team access it through the token
 * `Prices`.
 */
@Injectable()
export class PriceList {
  priceOf(item: string): number | undefined {
    return new Map([["lamp", 89]]).get(item);
  }
}
export const Prices = createToken<PriceList>("shop/prices");

const lookUp = tool({
  name: "look_up_price",
  description: "The price of one item in euros",
  input: z.object({ item: z.string() }),
  execute: ({ item }, { run }) => ({ item, price: run.get(Prices).priceOf(item) }),
});

/** Without OPENAI_API_KEY, a scripted model answers, so the program needs no key. */
function chooseModel(): ChatModel {
  if (process.env["OPENAI_API_KEY"] !== undefined) return openai("gpt-5-mini");
  return new ScriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "tool"
      ? `The price list says: ${last.content}`
      : { toolCalls: [{ name: "look_up_price", arguments: { item: "lamp" } }] };
  });
}

/**
 * Binds the providers of Nest in the container of a kernel, and creates the team with this kernel.
 */
function createTeam(prices: PriceList, model: ChatModel): Ensemble {
  const kernel = new Kernel();
  kernel.container.bind(Prices).toConstantValue(prices);
  kernel.container.bind(Tokens.ChatModel).toConstantValue(model);
  const clerk = new Agent({ role: "Clerk", goal: "Answers from the price list", tools: [lookUp] });
  const answer = new Task({ description: "Answer in one sentence: {question}", agent: clerk });
  return new Ensemble({ name: "answers", kernel, tasks: [answer] });
}

@Module({
  providers: [
    PriceList,
    { provide: Prices, useExisting: PriceList },
    { provide: Tokens.ChatModel, useFactory: chooseModel },
    { provide: Ensemble, useFactory: createTeam, inject: [Prices, Tokens.ChatModel] },
  ],
  exports: [Ensemble],
})
export class AgentsModule implements OnApplicationShutdown {
  constructor(@Inject(Ensemble) private readonly team: Ensemble) {}

  async onApplicationShutdown(): Promise<void> {
    await this.team.dispose();
  }
}
