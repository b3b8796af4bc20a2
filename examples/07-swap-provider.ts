// The container supplies the model. It is bound as a class with an injected dependency, and
// replaced for a single run.
// Run it: npm run example -- 07
// The program always uses its own models, so that the output shows the difference.
import {
  Ensemble,
  Task,
  Tokens,
  type ChatModel,
  type ChatRequest,
  type ChatResponse,
  type Clock,
} from "agentensemble";
import { injectable, Kernel } from "agentensemble/kernel";
import { offline } from "agentensemble/providers/offline";

/** Any class with `chat` is a model. @injectable names the tokens of its constructor parameters. */
@injectable(Tokens.Clock)
class HouseModel implements ChatModel {
  readonly provider = "house";
  readonly modelId = "house-1";

  constructor(private readonly clock: Clock) {}

  async chat(request: ChatRequest): Promise<ChatResponse> {
    const content = `It is ${this.clock.now().getUTCFullYear()}, and I got ${request.messages.length} messages.`;
    return { message: { role: "assistant", content }, finishReason: "stop" };
  }
}

await using kernel = new Kernel();
kernel.container.bind(Tokens.ChatModel).to(HouseModel).inSingletonScope();
// Any other dependency of the framework is replaced in the same way, for example the clock.
kernel.container.bind(Tokens.Clock).toConstantValue({
  now: () => new Date("2001-02-03T04:05:06Z"),
  monotonicMs: () => performance.now(),
});

const team = new Ensemble({
  kernel,
  tasks: [Task.of("Which year is it?\n---\nThe calendar on this wall shows the year 1984.\n---")],
});

const first = await team.run();
console.log(`Bound in the container: ${first.raw}`);

const second = await team.run(
  {},
  { bindings: (bind) => bind.single(Tokens.ChatModel).toConstantValue(offline()) },
);
console.log(`Bound for one run:      ${second.raw}`);

const third = await team.run();
console.log(`And after it:           ${third.raw}`);
