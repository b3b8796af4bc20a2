import type { ModelRef } from "../contracts/chat-model.js";
import type { CommandLineAccess } from "../contracts/command-line.js";
import type { Dag } from "../contracts/dag.js";
import type { EnsembleAccess } from "../contracts/ensemble-access.js";
import type { EnsembleOptions, Explanation } from "../contracts/ensemble-options.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunHandle, RunOptions } from "../contracts/run.js";
import type { Service, ServiceState, StartOptions } from "../contracts/service.js";
import type { AnyTask } from "../contracts/task.js";
import type { Inputs, InputSchema } from "../contracts/types.js";
import type { EnsembleShape, RunRequest } from "../engine/run/prepare-run.js";
import type { Kernel, KernelInternals } from "../kernel/kernel.js";
import { checkModel } from "../contracts/agent.js";
import { COMMAND_LINE } from "../contracts/command-line.js";
import {
  type AgentEnsembleError,
  RunCancelledError,
  ValidationError,
} from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { Tokens } from "../contracts/tokens.js";
import { preview } from "../contracts/validation.js";
import { dagOf, describePlan } from "../diagram/dag.js";
import { resumeRun } from "./resume-run.js";
import { mermaidOf } from "../diagram/mermaid.js";
import { checkEnsembleOptions, checkInputs, checkRunOptions } from "./validation.js";
import { checkModels } from "./check-models.js";
import { EventQueue } from "./event-queue.js";
import { inputNames } from "./input-names.js";
import { inferWorkflow } from "./infer-workflow.js";
import { explain } from "../explain/explain.js";
import { Cancellation } from "../util/abort/cancellation.js";
import { settleWithin } from "../util/abort/timeouts.js";
import { follow } from "../engine/run/create-run.js";
import { executeRun } from "../engine/run/execute-run.js";
import { sharingOrigin } from "../contracts/derived-options.js";
import { Settings } from "../engine/plan/settings.js";
import { fixedTree, requireTeam, type TeamRequest } from "./made-team.js";
import { openKernel } from "./open-kernel.js";
import { snapshotOf } from "./options-snapshot.js";
import { isShared } from "./service-options.js";
import { servicePorts } from "./service-ports.js";
import { ServiceSlot, type StopOptions } from "./service-slot.js";
import { setUpProblems } from "./set-up-problems.js";
import { checkHandoffs, taskEntries } from "./task-entries.js";
import { validateRun } from "./validate-run.js";
import { checkedInputs, inputFormOf } from "./typed-inputs.js";
import { unusedOptions } from "./unused-options.js";

/** The parameters of `run()`: inputs are optional unless some are required. */
type RunParameters<In> =
  Record<never, never> extends In
    ? [inputs?: In, options?: RunOptions]
    : [inputs: In, options?: RunOptions];

/**
 * A team: tasks, their agents, and a workflow. Immutable. Runs are independent and may overlap.
 * Without the option `kernel`, an ensemble creates a kernel with the standard plugins and its
 * `plugins`. `dispose()` disposes of this kernel.
 * @throws ValidationError from the constructor for invalid options. `run()` refuses other mistakes
 * before any cost arises.
 */
export class Ensemble<In = Inputs> {
  #options: EnsembleOptions;
  readonly #shape: EnsembleShape;
  readonly #kernel: Kernel;
  readonly #internals: KernelInternals;
  readonly #owned: boolean;
  /** Creates the team of a run from the run's inputs. Absent for a fixed team. */
  #makeTeam: ((inputs: Inputs) => unknown) | undefined;
  readonly #service = new ServiceSlot(() =>
    servicePorts({
      options: this.#options,
      kernel: this.#kernel,
      internals: this.#internals,
      run: (inputs, options) => this.#run(inputs, options),
      entries: this.#shape.entries,
      runTasks: (part, inputs, options) =>
        this.#run(inputs, options, (request) =>
          executeRun({
            ...request,
            options: part.options,
            shape: { ...this.#shape, entries: part.tasks, workflow: "PARALLEL" },
          }),
        ),
      make: (options) => new Ensemble(options),
    }),
  );

  constructor(options: EnsembleOptions & { readonly inputType: InputSchema<In> });
  constructor(options: EnsembleOptions);
  constructor(options: EnsembleOptions) {
    checkEnsembleOptions(options);
    this.#options = snapshotOf(options);
    const entries = taskEntries(this.#options);
    checkHandoffs(this.#options, entries);
    this.#shape = {
      entries,
      workflow: inferWorkflow(this.#options),
      validate: validateRun,
      checkModels,
      warnings: unusedOptions,
    };
    const { kernel, internals, owned } = openKernel("Ensemble", options);
    this.#owned = owned;
    this.#internals = internals;
    this.#kernel = kernel;
    this.#internals.attach(this.#access());
  }

  /** Creates an ensemble for `defineProgram()`. `make` creates the team of each run. @internal */
  static ofInputs(
    options: Pick<EnsembleOptions, "name" | "plugins">,
    make: (inputs: Inputs) => unknown,
  ): Ensemble {
    const ensemble = new Ensemble(options);
    ensemble.#makeTeam = make;
    return ensemble;
  }

  /** The option `name`. */
  get name(): string | undefined {
    return this.#options.name;
  }

  /** Runs tasks once, then disposes of the ensemble. Omit `model` if all tasks have handlers. */
  static run(model: ModelRef, ...tasks: AnyTask[]): Promise<EnsembleOutput>;
  static run(...handlerTasks: AnyTask[]): Promise<EnsembleOutput>;
  static async run(...args: readonly (ModelRef | AnyTask)[]): Promise<EnsembleOutput> {
    const [first, ...rest] = args;
    const withModel = args.length > 0 && !(first instanceof Task);
    const tasks = (withModel ? rest : args) as readonly AnyTask[]; // each is checked next
    if (withModel && (first === undefined || first === null))
      throw new ValidationError("model must not be null");
    if (tasks.length === 0) throw new ValidationError("tasks must not be null or empty");
    tasks.forEach((task, index) => {
      if (task === undefined || task === null)
        throw new ValidationError(`tasks[${index}] must not be null`);
    });
    if (withModel) checkModel("model", first);
    else requireHandlers(tasks);
    const ensemble = new Ensemble({ model: withModel ? first : undefined, tasks }); // checked above
    try {
      return await ensemble.run();
    } finally {
      await ensemble.dispose();
    }
  }

  /**
   * Runs the team. `inputs` fill the templates and take precedence over the option `inputs`.
   * `options` apply to this run.
   * @throws ValidationError or PromptTemplateError before any cost arises. After the start:
   * TaskExecutionError, ParallelExecutionError, RunCancelledError, RunTimeoutError or the error of
   * a tap that refuses the run, all with `output`.
   */
  async run(...[inputs, options = {}]: RunParameters<In>): Promise<EnsembleOutput> {
    return this.#run(checkInputs(inputs), options);
  }

  /** Runs the team and returns its events, including tokens. The run does not wait for a reader. */
  stream(...[inputs, options = {}]: RunParameters<In>): RunHandle {
    const given = checkInputs(inputs);
    checkRunOptions(options);
    const queue = new EventQueue();
    void this.#internals.ready().catch(() => undefined); // the container creates ids; the run reports a failure
    const id = options.runId ?? this.#nextId();
    let hasBegun = options.runId !== undefined;
    const request = {
      ...this.#request(given, { ...options, runId: id }),
      streaming: true,
      onEvent: (event: EnsembleEvent) => {
        hasBegun = true;
        queue.push(event);
      },
    };
    const output = this.#execute(request).finally(() => {
      queue.end();
      if (!hasBegun) this.#giveBack(id);
    });
    output.catch(() => undefined); // no unhandled rejection if only events are read
    return {
      id,
      events: queue,
      output,
      cancel: (reason) =>
        request.handle.cancel(
          new RunCancelledError(
            reason === undefined ? "The run was cancelled" : `The run was cancelled: ${reason}`,
          ),
        ),
    };
  }

  /**
   * Continues a run of a journal with its original inputs and tags, under the same `runId`.
   * Requires `durable()`.
   * @throws ValidationError without `durable()`, for an unknown run, and for inputs that JSON can't
   * represent (pass those to `run(inputs, { runId })`); as `run()`.
   */
  async resume(runId: string, options: Omit<RunOptions, "runId"> = {}): Promise<EnsembleOutput> {
    return resumeRun(this.#internals, this.#access(), { runId, options });
  }

  /** Returns the requests that a run would send. Calls no model and no tap. */
  async explain(...[inputs]: RunParameters<In>): Promise<Explanation> {
    return this.#explain(checkInputs(inputs));
  }

  async #explain(inputs: Inputs): Promise<Explanation> {
    const request = await this.#typed(await this.#withTeam(this.#request(inputs, {})));
    await this.#internals.ready();
    const form = inputFormOf(request.options);
    const explanation = await explain(request);
    return form === undefined ? explanation : { ...explanation, inputs: form };
  }

  /**
   * Returns the tasks and their dependencies as data of the format `.dag.json`, schema 1.3. Runs
   * nothing. Templates remain unfilled. A task without an agent has the agent of the default
   * synthesizer, or `(synthesized)` if the ensemble has another synthesizer.
   * @throws ValidationError for tasks without a possible order.
   */
  toDag(): Dag {
    return dagOf(describePlan(this.#options, this.#shape));
  }

  /** Returns the tasks and their dependencies as an escaped Mermaid flowchart. @throws as `toDag()`. */
  toMermaid(): string {
    return mermaidOf(describePlan(this.#options, this.#shape));
  }

  /** The state of the ensemble's service: `NEW` before the first `start()`. */
  get state(): ServiceState {
    return this.#service.state;
  }

  /**
   * Starts the ensemble as a service. It executes requests for shared tasks and tools until
   * `stop()` or SIGTERM. A number is the port. Returns the service also if it is already started.
   * @throws ValidationError before a port or a connection is opened; NetworkError for a backend
   * that does not answer for 30 s; ServiceStateError while the service is stopping.
   */
  start(options: number | StartOptions = {}): Promise<Service> {
    return this.#service.start(options);
  }

  /** Stops the service. Requests not finished within `drainTimeoutMs` return to the queue. */
  stop(options: StopOptions = {}): Promise<void> {
    return this.#service.stop(options);
  }

  /** Stops the service immediately, and disposes of the kernel if this ensemble created it. */
  async dispose(): Promise<void> {
    await this.#service.stop({ drainTimeoutMs: 0 });
    if (this.#owned) await this.#kernel.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Access for the command `agentensemble` to the ensemble of a user's file. @internal */
  [COMMAND_LINE](): CommandLineAccess {
    return {
      use: (plugin) => {
        this.#kernel.use(plugin);
        plugin.attach?.(this.#access());
      },
      model: async (name) => {
        await this.#internals.ready();
        return new Settings(this.#internals, this.#options, undefined).resolve(name);
      },
      inputNames: () =>
        this.#makeTeam === undefined ? inputNames(this.#options, this.#shape.entries) : undefined,
      inputSchema: () => inputFormOf(this.#options),
      filledInputs: () => this.#options.inputs ?? {},
      hasPlugin: (plugin) => this.#internals.has(plugin),
      replay: async ({ source, onMiss }) => {
        const { replayFrom } = await import("../plugins/replay/index.js"); // few programs replay
        return replayFrom(source, { onMiss });
      },
      nameIfNone: (name) => {
        if (this.#options.name === undefined)
          this.#options = Object.freeze({ ...this.#options, name });
      },
      describe: async () => {
        await this.#internals.ready();
        return this.#kernel.describe();
      },
      problems: () => setUpProblems(this.#internals, this.#options, this.#shape),
      end: () => this.#kernel.dispose(),
    };
  }

  /** Returns the access to this ensemble that plugins receive. */
  #access(): EnsembleAccess {
    return {
      name: this.#options.name,
      isShared: isShared(this.#options),
      ready: () => this.#internals.ready(),
      run: (inputs, options = {}) => this.#run(checkInputs(inputs), options),
      runAgain: (inputs, options = {}) =>
        this.#run(checkInputs(inputs), options, async (request) =>
          executeRun(await this.#withTeam(request)),
        ),
      explain: (inputs) => this.#explain(checkInputs(inputs)),
      toDag: () => this.toDag(),
    };
  }

  #run(
    inputs: Inputs,
    options: RunOptions,
    execute = (request: RunRequest) => this.#execute(request),
  ): Promise<EnsembleOutput> {
    checkRunOptions(options);
    return execute(this.#request(inputs, options));
  }

  #execute(request: RunRequest): Promise<EnsembleOutput> {
    return this.#options.inputType === undefined && this.#makeTeam === undefined
      ? executeRun(request)
      : this.#typedInTime(request).then(executeRun);
  }

  /** Parses the inputs within the run's time limit: schemas and functions may never settle. */
  async #typedInTime(request: RunRequest): Promise<RunRequest> {
    const end = new Cancellation<AgentEnsembleError>();
    follow(end, request);
    try {
      const team = this.#withTeam(request);
      return await settleWithin(
        team.then((made) => this.#typed(made)),
        end,
      );
    } finally {
      end.dispose();
    }
  }

  /** Returns the request with the inputs parsed by the `inputType`. @throws ValidationError */
  async #typed<R extends Pick<RunRequest, "inputs" | "options">>(request: R): Promise<R> {
    const { inputType } = request.options;
    if (inputType === undefined) return request;
    return { ...request, inputs: await checkedInputs(inputType, request.inputs) };
  }

  /** @throws ValidationError for a value that is not an ensemble; the error of the function. */
  async #withTeam<R extends TeamRequest>(request: R): Promise<R> {
    if (this.#makeTeam === undefined) return request;
    const { name = "" } = this.#options;
    const made = fixedTree(await this.#makeTeam(request.inputs));
    if (typeof made !== "object" || made === null || !(#makeTeam in made))
      throw new ValidationError(
        `The function of ensemble '${name}' must return an Ensemble, got: ${preview(made)}`,
      );
    const { options, shape } = { options: made.#options, shape: made.#shape };
    requireTeam(name, options);
    return {
      ...request,
      inputs: Object.freeze({ ...options.inputs, ...request.inputs }),
      options: sharingOrigin({ ...options, name }, this.#options),
      shape,
    };
  }

  #request(inputs: Inputs, runOptions: RunOptions): RunRequest {
    const merged: Inputs = Object.freeze({ ...this.#options.inputs, ...inputs }); // the caller may change the object
    return {
      kernel: this.#internals,
      options: this.#options,
      shape: this.#shape,
      inputs: merged,
      runOptions,
      streaming: false,
      handle: new Cancellation(),
    };
  }

  #nextId(): string {
    return this.#internals.bindings.get(Tokens.IdGenerator).next("run");
  }

  #giveBack(id: string): void {
    this.#internals.bindings.get(Tokens.IdGenerator).giveBack?.(id);
  }
}

/** @throws ValidationError naming the first task that would need a model. */
function requireHandlers(tasks: readonly AnyTask[]): void {
  const bare = tasks.find((task) => task.handler === undefined);
  if (bare === undefined) return;
  throw new ValidationError(
    `Task '${bare.description}' has no handler. Without a model Ensemble.run() takes tasks with handlers only. Give the task a \`handler\`, or pass a model first.`,
    { hint: 'Pass a model first: Ensemble.run("openai:gpt-5-mini", task).' },
  );
}
