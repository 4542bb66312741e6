import {
  type BulkOperations,
  bulkOperationsOf,
  type CronJobs,
  cronJobsOf,
  type DeadLetters,
  deadLettersOf,
  type Events,
  eventsOf,
  type Hosts,
  hostsOf,
  type Organizations,
  organizationsOf,
  type Queues,
  queuesOf,
  type Runs,
  runsOf,
  type Status,
  type Subscriptions,
  statusOf,
  subscriptionsOf,
  type Tasks,
  tasksOf,
  type Workspaces,
  workspacesOf,
} from './generated/resources.ts'
import { createHttp, type Http, type Method, type RawRequest } from './http.ts'
import type { BelfryOptions } from './options.ts'

/**
 * A client of a Belfry installation.
 *
 * @example
 * const belfry = new Belfry() // reads BELFRY_API_KEY and BELFRY_URL
 * await belfry.tasks.create({
 *   targetUrl: 'https://example.com/hooks/trial-ends',
 *   delay: '3d',
 *   payload: { user: 42 },
 * })
 */
export class Belfry {
  /** Requests at a future time. */
  readonly tasks: Tasks
  /** Recurring requests. */
  readonly cronJobs: CronJobs
  /** Immediate requests. */
  readonly events: Events
  /** Targets that receive every event with a matching topic. */
  readonly subscriptions: Subscriptions
  /** Tasks that failed for good, until they are replayed or discarded. */
  readonly deadLetters: DeadLetters
  /** Cancels, stops, replays and discards of many tasks, in the background. */
  readonly bulkOperations: BulkOperations
  /** Queues. A queue can limit the concurrency and the rate of its tasks, and keep their order. */
  readonly queues: Queues
  /** The activity log: one run per attempt. */
  readonly runs: Runs
  /** The hosts that tasks call, with their circuit breakers. */
  readonly hosts: Hosts
  /** Workspaces, with their members, secrets and signing secrets. */
  readonly workspaces: Workspaces
  /** Organizations. Most methods require a session token instead of an API key. */
  readonly organizations: Organizations
  /** Whether dispatchers, schedulers and the queue are running. */
  readonly status: Status
  readonly #http: Http

  /** Throws a `TypeError` without a key or a token. Sends no request. */
  constructor(options: BelfryOptions = {}) {
    const http = createHttp(options)
    this.tasks = tasksOf(http)
    this.cronJobs = cronJobsOf(http)
    this.events = eventsOf(http)
    this.subscriptions = subscriptionsOf(http)
    this.deadLetters = deadLettersOf(http)
    this.bulkOperations = bulkOperationsOf(http)
    this.queues = queuesOf(http)
    this.runs = runsOf(http)
    this.hosts = hostsOf(http)
    this.workspaces = workspacesOf(http)
    this.organizations = organizationsOf(http)
    this.status = statusOf(http)
    this.#http = http
  }

  /**
   * Calls any operation of the HTTP API, with the client's credential, retries and errors. Requests and responses have the
   * names of the HTTP API. Only `GET`, `PUT` and requests with an `idempotencyKey` are retried when it is unknown
   * whether they took effect.
   *
   * @example
   * await belfry.request('GET', '/api/v1/workspaces/current/integrations')
   */
  request<T = unknown>(method: Method, path: string, request: RawRequest = {}): Promise<T> {
    return this.#http.raw(method, path, request)
  }
}
