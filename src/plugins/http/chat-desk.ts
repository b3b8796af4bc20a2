import type { ThreadMessage } from "../../contracts/conversation.js";
import type { Principal } from "../../contracts/http-route.js";
import type { StoredReview } from "../../contracts/review.js";
import type { RunHandle } from "../../contracts/run.js";
import type { Fields } from "../../util/objects.js";
import type { UIMessageLike } from "../../contracts/ui-stream.js";
import type { PageAnswers } from "./approvals.js";
import type { ChatConversation, ChatSettings, ChatThread } from "./chat-handler-options.js";
import type { LiveStream } from "./live-stream.js";
import type { StartedRun } from "./started-runs.js";
import type { PageTurn, Question } from "./page-turns.js";
import type { RunOwnership } from "./review-access.js";
import type { AnswerableReviews } from "./run-handler-options.js";
import type { HttpExchange, ServedEndpoint } from "./serve-endpoints.js";
import { readJsonObject } from "../shared/http/json-body.js";
import { toUIMessages, userParts } from "../shared/ui-message/ui-messages.js";
import { jsonAnswer, PRIVATE_HEADERS } from "./answers.js";
import { answeredStream, answersFor, answersIn, asksFor } from "./approvals.js";
import {
  chatFailure,
  noCallWaits,
  noQuota,
  noSuchThread,
  threadWaits,
  TurnFailure,
} from "./chat-failures.js";
import { chatWorkOf } from "./chat-request.js";
import { PageTurns } from "./page-turns.js";
import { ResumedStreams } from "./resumed-streams.js";
import { ReviewAccess } from "./review-access.js";
import { noSuchReview } from "./review-answer.js";
import { requireMay } from "./serve-endpoints.js";
import { StartedRuns } from "./started-runs.js";
import { StreamAnswers } from "./stream-answers.js";
import { listedThreads } from "./thread-list-answer.js";

/** A thread of the requesting principal. */
interface OwnThread {
  readonly thread: ChatThread;
  readonly asked: HttpExchange;
  readonly owner: string | undefined;
}

/** The part of a thread that a page receives. */
interface ShownThread {
  readonly turn: PageTurn | undefined;
  readonly stored: readonly ThreadMessage[];
}

/** Serves the threads of one conversation to pages. */
export class ChatDesk implements RunOwnership {
  readonly #conversation: ChatConversation;
  readonly #settings: ChatSettings;
  readonly #runs = new StartedRuns();
  readonly #turns = new PageTurns();
  readonly #streams: StreamAnswers;
  readonly #resumed: ResumedStreams;
  readonly #access = new ReviewAccess([this]);
  /** Ends the subscription to the review store. */
  readonly close: () => void;

  constructor(conversation: ChatConversation, settings: ChatSettings) {
    this.#conversation = conversation;
    this.#settings = settings;
    this.#streams = new StreamAnswers(settings);
    this.#resumed = new ResumedStreams({
      name: conversation.name,
      settings,
      runs: this.#runs,
      turns: this.#turns,
      streams: this.#streams,
    });
    // The pages that receive the streams send the answers.
    this.close = settings.reviews?.onRequest?.(() => undefined) ?? (() => undefined);
  }

  endpoints(): readonly ServedEndpoint[] {
    const at = (
      method: ServedEndpoint["method"],
      place: ServedEndpoint["place"],
      handle: (asked: HttpExchange) => Promise<Response> | Response,
    ): ServedEndpoint => ({
      method,
      place,
      role: "caller",
      handle: async (asked) => {
        try {
          requireMay(asked.principal, this.#conversation);
          return await handle(asked);
        } catch (error) {
          throw chatFailure(error);
        }
      },
    });
    return [
      at("GET", "", (asked) => this.#list(asked)),
      at("POST", "", (asked) => this.#post(asked)),
      at("GET", "/:id", async (asked) => this.#show(await this.#open(asked, asked.id))),
      at("DELETE", "/:id", async (asked) => this.#delete(await this.#open(asked, asked.id))),
      at("GET", "/:id/stream", async (asked) => this.#resume(await this.#open(asked, asked.id))),
      at("GET", "/:id/usage", async (asked) => this.#usage(await this.#open(asked, asked.id))),
      at("DELETE", "/:id/stream", async (asked) => this.#stop(await this.#open(asked, asked.id))),
    ];
  }

  startedBy(runId: string, principal: Principal): boolean {
    return this.#runs.find(runId, principal) !== undefined;
  }

  /**
   * Returns a new or stored thread.
   * @throws ValidationError for an invalid id; AccessDeniedError.
   */
  async #open(asked: HttpExchange, id: unknown): Promise<OwnThread> {
    const { owner, values } = asked.principal;
    const thread = this.#conversation.thread(id as string, { owner, values }); // checks the id
    await thread.head(); // the thread of another owner is refused before any wait
    return { thread, asked, owner };
  }

  async #list({ request, principal }: HttpExchange): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const page = await listedThreads(this.#conversation, principal.owner, searchParams);
    return jsonAnswer(200, page);
  }

  async #post(asked: HttpExchange): Promise<Response> {
    const { request, principal } = asked;
    const body = await readJsonObject(request, this.#settings);
    const own = await this.#open(asked, body["id"]);
    const { reviews } = this.#settings;
    const answers = reviews === undefined ? undefined : answersIn(body, principal.name);
    if (reviews !== undefined && answers !== undefined) return this.#answer(own, answers, reviews);
    const turn = await this.#begin(own, body);
    const stream = await turn.begun.catch((error: unknown) => {
      throw new TurnFailure(error);
    });
    const source = await stream.begin();
    if (source === undefined) throw new Error("The store of streams does not keep the stream");
    return this.#streams.respond(source, turn.run.id, request);
  }

  async #begin(own: OwnThread, body: Fields): Promise<PageTurn> {
    const { thread, owner } = own;
    const { limits } = this.#settings;
    if (this.#turns.current(thread.id, owner)?.run.stream?.isPaused === true) throw threadWaits();
    const work = await chatWorkOf(body, thread, limits);
    if (work.kind === "send") {
      const { content, messageId } = work;
      const handle = thread.stream(content, { messageId });
      return this.#started(own, handle, { id: messageId ?? `${handle.id}-0`, content });
    }
    const { question, content = question.content } = work;
    const handle = thread.edit(question.turnId, work.content);
    return this.#started(own, handle, {
      id: question.id,
      content,
      replaces: question.turnId,
    });
  }

  /**
   * Returns the turn in progress, including one that was in progress when an earlier process ended.
   */
  #current(own: OwnThread): Promise<PageTurn | undefined> {
    const { thread, owner } = own;
    return this.#turns.currentOr(thread.id, owner, async () => {
      const handle = await thread.resume();
      return handle === undefined
        ? undefined
        : this.#started(own, handle, handle.question, { isResumed: true });
    });
  }

  #started(
    { thread, asked, owner }: OwnThread,
    handle: RunHandle,
    question: Question,
    { isResumed = false } = {},
  ): PageTurn {
    const run = this.#runs.add(handle, asked.principal, { threadId: thread.id, owner });
    const begun = this.#streams.begin(handle, thread.id).then((stream): LiveStream => {
      if (stream.isKept || run.handle !== undefined) run.stream = stream;
      return stream;
    });
    begun.catch(() => undefined); // the request that started the turn receives the error
    const turn: PageTurn = { threadId: thread.id, run, question, begun, isResumed };
    this.#turns.add(thread.id, owner, turn);
    if (!isResumed) this.#cancelWithClient(asked.request, turn);
    return turn;
  }

  /**
   * Cancels the turn if its client disconnects before the stream begins. Until then, only the
   * signal of the request reports this.
   */
  #cancelWithClient({ signal }: Request, { run, begun }: PageTurn): void {
    if (this.#settings.onDisconnect !== "cancel") return;
    const leave = (): void => run.handle?.cancel("the client has left");
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    const done = (): void => signal.removeEventListener("abort", leave);
    begun.then(done, done);
  }

  /** Answers the questions of the turn, and continues its stream. */
  async #answer(
    own: OwnThread,
    answers: PageAnswers,
    reviews: AnswerableReviews,
  ): Promise<Response> {
    const { request, principal } = own.asked;
    const run = await this.#askedRun(own, answers);
    if (run?.stream === undefined)
      throw answers.approvals.length > 0 ? noSuchReview() : noCallWaits();
    const mayAnswer = (review: StoredReview): boolean => this.#access.mayAnswer(review, principal);
    const given = answersFor(run.stream, answers);
    const source = await answeredStream(run.stream, given, { reviews, mayAnswer });
    return this.#streams.respond(source, run.id, request);
  }

  /** Returns the run of this thread that asked for these answers. */
  async #askedRun(own: OwnThread, answers: PageAnswers): Promise<StartedRun | undefined> {
    const { thread, owner, asked } = own;
    const ids = answers.approvals.map(({ reviewId }) => reviewId);
    const find = (): StartedRun | undefined => {
      const asking = this.#runs.findAsking(ids, asked.principal);
      if (asking !== undefined) return asking.turnOf?.threadId === thread.id ? asking : undefined;
      if (answers.runId === undefined) return undefined;
      const named = this.#runs.turn(answers.runId, { threadId: thread.id, owner });
      return asksFor(named?.stream, answers) ? named : undefined;
    };
    const found = find();
    if (found !== undefined) return found;
    const turn = await this.#current(own);
    if (turn?.isResumed !== true) return undefined;
    await (await turn.begun).settled(); // the resumed run repeats its questions
    return find();
  }

  async #show(own: OwnThread): Promise<Response> {
    const { thread, owner } = own;
    const { turn, stored } = await this.#shown(own);
    const head = await thread.head();
    if (head === undefined && turn === undefined) throw noSuchThread();
    this.#turns.show(thread.id, owner, turn?.run);
    const { reasoning, sources, tools } = this.#settings.ui;
    const replaced = turn?.question.replaces;
    const cut = stored.findIndex(({ turnId }) => turnId === replaced);
    const kept = cut < 0 ? stored : stored.slice(0, cut);
    const messages: UIMessageLike[] = [...toUIMessages(kept, { reasoning, sources, tools })];
    if (turn !== undefined)
      messages.push({
        id: turn.question.id,
        role: "user",
        parts: userParts(turn.question.content),
      });
    return jsonAnswer(200, { id: thread.id, title: head?.title, messages, turn: turn?.run.id });
  }

  /**
   * Returns the messages of a thread. Returns also its turn in progress if the messages do not
   * contain it.
   */
  async #shown(own: OwnThread): Promise<ShownThread> {
    for (;;) {
      const turn = await this.#current(own);
      const stored = await own.thread.messages();
      if (turn === undefined) return { turn, stored };
      if (stored.some(({ turnId }) => turnId === turn.run.id))
        // The messages contain the turn, so its stream is not sent again.
        await turn.run.handle?.output.catch(() => undefined);
      else if (turn.run.handle !== undefined) return { turn, stored };
      else if (turn.run.failure !== undefined) return { turn: undefined, stored };
    }
  }

  /**
   * Returns the stream of the turn that a page received without an answer. A turn that the page
   * names is returned even if it has ended.
   */
  async #resume(own: OwnThread): Promise<Response> {
    const { thread, owner, asked } = own;
    const { request } = asked;
    const turnId = new URL(request.url).searchParams.get("turn");
    const to = { thread, owner, current: () => this.#current(own) };
    const found = await (turnId === null
      ? this.#resumed.latest(to)
      : this.#resumed.named(to, turnId));
    return found === undefined
      ? nothingThere()
      : this.#streams.respond(found.source, found.runId, request);
  }

  async #usage({ thread }: OwnThread): Promise<Response> {
    const usage = await thread.usage();
    if ((usage.owner ?? usage.thread) === undefined) throw noQuota();
    return jsonAnswer(200, { id: thread.id, ...usage });
  }

  #stop({ thread, owner }: OwnThread): Response {
    const run = this.#turns.current(thread.id, owner)?.run;
    if (run?.handle === undefined) return nothingThere();
    run.handle.cancel("the client requested it");
    return jsonAnswer(202, { id: thread.id, turnId: run.id, status: "CANCELLING" });
  }

  async #delete({ thread, owner }: OwnThread): Promise<Response> {
    const isInProgress = this.#turns.current(thread.id, owner) !== undefined;
    const wasThere = await thread.delete();
    this.#runs.forget({ threadId: thread.id, owner });
    this.#turns.show(thread.id, owner, undefined);
    if (!wasThere && !isInProgress) throw noSuchThread();
    return jsonAnswer(200, { id: thread.id, status: "DELETED" });
  }
}

function nothingThere(): Response {
  return new Response(null, { status: 204, headers: { ...PRIVATE_HEADERS } });
}
