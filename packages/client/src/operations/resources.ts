// `npm run clients` makes this file from the operations of the API.
import { followOperation } from '../follow-operation.ts'
import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, ProgressOptions, RequestOptions, TailOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody, toNewBody, withPayload } from '../request-body.ts'
import { tailRuns } from '../tail-runs.ts'
import type {
  AuditStream,
  Backfill,
  BatchResult,
  BulkOperation,
  CancelledTasks,
  Connection,
  ConnectionTest,
  CreateCronJob,
  CreateSubscription,
  CreateTask,
  CronJob,
  CronPreview,
  DeadLetterChoice,
  DeadLetterOperation,
  DiscardedDeadLetters,
  ExportRuns,
  ExportTasks,
  FederatedCredential,
  Host,
  Hosts as HostList,
  Id,
  ListCronJobs,
  ListDeadLetters,
  ListOrganizationRuns,
  ListQueues,
  ListRuns,
  ListTasks,
  Member,
  NewFederatedCredential,
  Organization,
  OrganizationDetail,
  OrganizationSummary,
  PageOptions,
  Status as ProcessStatus,
  PublishEvent,
  PublishedEvent,
  PutConnection,
  PutSecret,
  Queue,
  QueueLimits,
  ReplayChoice,
  ReplayedDeadLetters,
  ResetHost,
  Run,
  RunCounts,
  RunCountsQuery,
  RunDetail,
  RunFailures,
  RunFailuresQuery,
  RunPage,
  Secret,
  SigningKey,
  SigningSecret,
  StartBulkOperation,
  StoppedTasks,
  Subscription,
  SubscriptionSecret,
  Task,
  TaskChoice,
  TaskCount,
  TaskOperation,
  TimestampInput,
  UpdateCronJob,
  UpdateSubscription,
  UpdateTask,
  Workspace,
  WorkspaceMember,
} from '../types/index.ts'

/** Requests at a future time. */
export type Tasks = ReturnType<typeof tasksOf>

export function tasksOf(http: Http) {
  return {
    /** List tasks, newest first. */
    list: (query: ListTasks = {}, options?: RequestOptions): List<Task> =>
      list(http, '/api/v1/scheduler/tasks', query, options),

    /**
     * Schedule a task. It is stored when the response arrives. With a `key` the response may be a pending
     * task that was created earlier; see `onConflict`. Retries are safe. Throws `ConflictError`
     * (`key_in_use`).
     */
    create: (body: CreateTask, options?: CreateOptions): Promise<Task> =>
      http.create('/api/v1/scheduler/tasks', toNewBody(body), options),

    /**
     * Schedule up to 1,000 tasks; an invalid row does not affect the others. They are stored when the
     * response arrives. An invalid task fails alone, so check the `error` of each result. Retries are safe.
     */
    async createMany(tasks: readonly CreateTask[], options?: CreateOptions): Promise<BatchResult[]> {
      const body = `{"tasks":[${tasks.map(toNewBody).join(',')}]}`
      const { data } = await http.create<{ data: BatchResult[] }>('/api/v1/scheduler/tasks/batch', body, options)
      return data
    },

    /** Count tasks, up to 10,000. */
    count: (query: Omit<ListTasks, keyof PageOptions> = {}, options?: RequestOptions): Promise<TaskCount> =>
      http.get('/api/v1/scheduler/tasks/count', options, query),

    /** Cancel pending tasks, by id or by filter. Skips tasks that are not pending. */
    cancelMany: (body: TaskChoice, options?: RequestOptions): Promise<CancelledTasks> =>
      http.post('/api/v1/scheduler/tasks/cancel', toBody(body), options),

    /** Stop tasks that wait for a retry, by id or by filter: they are dead. Skips other tasks. */
    stopMany: (body: TaskChoice, options?: RequestOptions): Promise<StoppedTasks> =>
      http.post('/api/v1/scheduler/tasks/stop', toBody(body), options),

    /** Get the progress of a cancel or a stop in the background. */
    operation: (id: Id, options?: RequestOptions): Promise<TaskOperation> =>
      http.get(path`/api/v1/scheduler/tasks/operations/${id}`, options),

    /** Yields each change of an operation's progress until it has ended. */
    progress: (id: Id, options?: ProgressOptions): AsyncGenerator<TaskOperation> =>
      followOperation(
        (id, options) => http.get(path`/api/v1/scheduler/tasks/operations/${id}`, options),
        id,
        'ended',
        options,
      ),

    /** Cancel a cancel or a stop in the background; what it has done stays done. */
    cancelOperation: (id: Id, options?: RequestOptions): Promise<TaskOperation> =>
      http.delete(path`/api/v1/scheduler/tasks/operations/${id}`, options),

    /** Export tasks as CSV or JSON Lines, newest first. The file may have any size. */
    export: (query: ExportTasks = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, '/api/v1/scheduler/tasks/export', query, options),

    /** Read a task. */
    get: (id: Id, options?: RequestOptions): Promise<Task> => http.get(path`/api/v1/scheduler/tasks/${id}`, options),

    /** Change a pending task. Throws `ConflictError` (`task_not_pending`). */
    update: (id: Id, body: UpdateTask, options?: RequestOptions): Promise<Task> =>
      http.patch(path`/api/v1/scheduler/tasks/${id}`, toDispatchBody(body), options),

    /**
     * Cancel a pending task. After the response, its request was not and will not be sent. Throws
     * `ConflictError` (`task_not_pending`).
     */
    cancel: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.delete(path`/api/v1/scheduler/tasks/${id}`, options),

    /** Stop a task that waits for a retry: it is dead. Throws `ConflictError` (`task_not_retrying`). */
    stop: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.post(path`/api/v1/scheduler/tasks/${id}/stop`, undefined, options),

    /**
     * Replay a finished task, as a new task that is due at once. The body changes the new task, like
     * `PATCH` does. Retries are safe. Throws `ConflictError` (`task_not_finished`).
     */
    replay: (id: Id, body: UpdateTask = {}, options?: CreateOptions): Promise<Task> =>
      http.create(path`/api/v1/scheduler/tasks/${id}/replay`, toDispatchBody(body), options),
  }
}

/** Recurring requests. */
export type CronJobs = ReturnType<typeof cronJobsOf>

export function cronJobsOf(http: Http) {
  return {
    /** List cron jobs, newest first. */
    list: (query: ListCronJobs = {}, options?: RequestOptions): List<CronJob> =>
      list(http, '/api/v1/scheduler/cronjobs', query, options),

    /**
     * Create a cron job. It is stored when the response arrives. Retries are safe. Throws `ConflictError`
     * (`key_in_use`).
     */
    create: (body: CreateCronJob, options?: CreateOptions): Promise<CronJob> =>
      http.create('/api/v1/scheduler/cronjobs', toNewBody(body), options),

    /** Preview when a cron expression fires. */
    preview: (
      body: {
        /**
         * Five fields: minute, hour, day of month, month, day of week. `L` is the last day of the month, `MON#1`
         * its first Monday, `FRIL` its last Friday.
         */
        cron: string
        /** The IANA time zone of the schedule. Default `UTC`. */
        timezone?: string
        /** The time after which the runs are, in RFC 3339 with an offset or `Z`. Default: now. */
        from?: TimestampInput
        /** How many runs to return, 1 to 50. Default 5. */
        count?: number
      },
      options?: RequestOptions,
    ): Promise<CronPreview> => http.post('/api/v1/scheduler/cronjobs/preview', toBody(body), options),

    /** Read a cron job. The response has its next five runs. */
    get: (id: Id, options?: RequestOptions): Promise<CronJob> =>
      http.get(path`/api/v1/scheduler/cronjobs/${id}`, options),

    /**
     * Change a cron job. A new `cron` or `timezone` replaces the runs that have not started. Throws
     * `ConflictError` (`key_in_use`).
     */
    update: (id: Id, body: UpdateCronJob, options?: RequestOptions): Promise<CronJob> =>
      http.patch(path`/api/v1/scheduler/cronjobs/${id}`, toDispatchBody(body), options),

    /** Delete a cron job and cancel its tasks that have not started. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/cronjobs/${id}`, options),

    /** Pause a cron job. No run starts after the response. */
    pause: (id: Id, options?: RequestOptions): Promise<CronJob> =>
      http.post(path`/api/v1/scheduler/cronjobs/${id}/pause`, undefined, options),

    /** Resume a cron job from now on. Runs missed during the pause are skipped. */
    resume: (id: Id, options?: RequestOptions): Promise<CronJob> =>
      http.post(path`/api/v1/scheduler/cronjobs/${id}/resume`, undefined, options),

    /** Dispatch a cron job at once. */
    trigger: (id: Id, options?: RequestOptions): Promise<Task> =>
      http.post(path`/api/v1/scheduler/cronjobs/${id}/trigger`, undefined, options),

    /**
     * Run a cron job for a past time: one task for each of at most 1,000 occurrences. Skips occurrences
     * that have a task which was not cancelled, so a repeated request creates nothing. Each task has the
     * time of its occurrence as `executeAt`, and is due now.
     */
    backfill: (
      id: Id,
      body: {
        /** The time from which on occurrences run. */
        from: TimestampInput
        /** The time before which occurrences run; not in the future. */
        to: TimestampInput
        /** How many of the tasks are due per second, the first at once. Default: all are due at once. */
        perSecond?: number
      },
      options?: RequestOptions,
    ): Promise<Backfill> => http.post(path`/api/v1/scheduler/cronjobs/${id}/backfill`, toBody(body), options),
  }
}

/** Immediate requests. */
export type Events = ReturnType<typeof eventsOf>

export function eventsOf(http: Http) {
  return {
    /**
     * Publish an event: call its target, or every matching subscription, at once. It is stored when the
     * response arrives. Retries are safe.
     */
    publish: (body: PublishEvent, options?: CreateOptions): Promise<PublishedEvent> =>
      http.create('/api/events', withPayload(body), options),
  }
}

/** Targets that receive every event with a matching topic. */
export type Subscriptions = ReturnType<typeof subscriptionsOf>

export function subscriptionsOf(http: Http) {
  return {
    /** List subscriptions, newest first. */
    list: (query: PageOptions = {}, options?: RequestOptions): List<Subscription> =>
      list(http, '/api/v1/scheduler/subscriptions', query, options),

    /** Subscribe a target to the events of some topics. Throws `ConflictError` (`key_in_use`). */
    create: (body: CreateSubscription, options?: RequestOptions): Promise<Subscription> =>
      http.post('/api/v1/scheduler/subscriptions', toDispatchBody(body), options),

    /** Get a subscription. */
    get: (id: Id, options?: RequestOptions): Promise<Subscription> =>
      http.get(path`/api/v1/scheduler/subscriptions/${id}`, options),

    /**
     * Change a subscription, for events published from then on. Omitted fields stay unchanged. Throws
     * `ConflictError` (`key_in_use`).
     */
    update: (id: Id, body: UpdateSubscription, options?: RequestOptions): Promise<Subscription> =>
      http.patch(path`/api/v1/scheduler/subscriptions/${id}`, toDispatchBody(body), options),

    /** Delete a subscription; events published before are still sent. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/subscriptions/${id}`, options),

    /** The secrets that sign the calls of a subscription instead of those of the workspace. */
    signingSecrets: {
      /**
       * List the signing secrets that a subscription has of its own, the current one first. Without any, the
       * secrets of the workspace sign.
       */
      list: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<SubscriptionSecret> =>
        list(http, path`/api/v1/scheduler/subscriptions/${id}/signing-secrets`, query, options),

      /** Create a new signing secret of a subscription; the old one also signs for 24 hours. */
      rotate: (id: Id, options?: RequestOptions): Promise<SubscriptionSecret> =>
        http.post(path`/api/v1/scheduler/subscriptions/${id}/signing-secrets`, undefined, options),

      /** Remove the signing secrets of a subscription, so those of the workspace sign its calls. */
      remove: (id: Id, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/scheduler/subscriptions/${id}/signing-secrets`, options),

      /** Revoke an old signing secret of a subscription at once. */
      revoke: (id: Id, secretId: Id, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/scheduler/subscriptions/${id}/signing-secrets/${secretId}`, options),
    },
  }
}

/** Tasks that failed for good, until they are replayed or discarded. */
export type DeadLetters = ReturnType<typeof deadLettersOf>

export function deadLettersOf(http: Http) {
  return {
    /** List tasks that could not be delivered, until they are replayed or discarded. */
    list: (query: ListDeadLetters = {}, options?: RequestOptions): List<Task> =>
      list(http, '/api/v1/scheduler/dead-letters', query, options),

    /**
     * Replay dead letters: each as a new task that is due at once, or so many per second. Skips tasks that
     * are not dead letters any more.
     */
    replay: (body: ReplayChoice, options?: RequestOptions): Promise<ReplayedDeadLetters> =>
      http.post('/api/v1/scheduler/dead-letters/replay', toBody(body), options),

    /** Discard dead letters; the tasks stay dead. */
    discard: (body: DeadLetterChoice, options?: RequestOptions): Promise<DiscardedDeadLetters> =>
      http.post('/api/v1/scheduler/dead-letters/discard', toBody(body), options),

    /** Get the progress of a replay or a discard in the background. */
    operation: (id: Id, options?: RequestOptions): Promise<DeadLetterOperation> =>
      http.get(path`/api/v1/scheduler/dead-letters/operations/${id}`, options),

    /** Yields each change of an operation's progress until it has ended. */
    progress: (id: Id, options?: ProgressOptions): AsyncGenerator<DeadLetterOperation> =>
      followOperation(
        (id, options) => http.get(path`/api/v1/scheduler/dead-letters/operations/${id}`, options),
        id,
        'settled',
        options,
      ),

    /** Cancel a replay or a discard in the background; what it has done stays done. */
    cancelOperation: (id: Id, options?: RequestOptions): Promise<DeadLetterOperation> =>
      http.delete(path`/api/v1/scheduler/dead-letters/operations/${id}`, options),
  }
}

/** Cancels, stops, replays and discards of many tasks, in the background. */
export type BulkOperations = ReturnType<typeof bulkOperationsOf>

export function bulkOperationsOf(http: Http) {
  return {
    /** List bulk operations, newest first; they are kept for 30 days after their end. */
    list: (query: PageOptions = {}, options?: RequestOptions): List<BulkOperation> =>
      list(http, '/api/v1/scheduler/bulk-operations', query, options),

    /**
     * Cancel, stop, replay or discard many tasks in the background. A different running operation causes a
     * conflict.
     */
    start: (body: StartBulkOperation, options?: RequestOptions): Promise<BulkOperation> =>
      http.post('/api/v1/scheduler/bulk-operations', toBody(body), options),

    /** Get the progress of a bulk operation. */
    get: (id: Id, options?: RequestOptions): Promise<BulkOperation> =>
      http.get(path`/api/v1/scheduler/bulk-operations/${id}`, options),

    /** Yields each change of an operation's progress until it has ended. */
    progress: (id: Id, options?: ProgressOptions): AsyncGenerator<BulkOperation> =>
      followOperation(
        (id, options) => http.get(path`/api/v1/scheduler/bulk-operations/${id}`, options),
        id,
        'done',
        options,
      ),

    /** Cancel a bulk operation; what it has done stays done. */
    cancel: (id: Id, options?: RequestOptions): Promise<BulkOperation> =>
      http.post(path`/api/v1/scheduler/bulk-operations/${id}/cancel`, undefined, options),
  }
}

/** Queues, which limit how many attempts of their tasks start. */
export type Queues = ReturnType<typeof queuesOf>

export function queuesOf(http: Http) {
  return {
    /** List queues by name, with what they contain now. */
    list: (query: ListQueues = {}, options?: RequestOptions): List<Queue> =>
      list(http, '/api/v1/scheduler/queues', query, options),

    /** Read a queue. */
    get: (name: string, options?: RequestOptions): Promise<Queue> =>
      http.get(path`/api/v1/scheduler/queues/${name}`, options),

    /** Create a queue, or replace its limits. An omitted limit is removed. */
    put: (name: string, body: QueueLimits = {}, options?: RequestOptions): Promise<Queue> =>
      http.put(path`/api/v1/scheduler/queues/${name}`, toBody(body), options),

    /** Change limits of a queue. Omitted limits stay unchanged. */
    update: (name: string, body: QueueLimits, options?: RequestOptions): Promise<Queue> =>
      http.patch(path`/api/v1/scheduler/queues/${name}`, toBody(body), options),

    /**
     * Delete the settings of a queue that is not in use. Nothing may use the queue: no task, cron job or
     * subscription. Throws `ConflictError` (`queue_in_use`).
     */
    delete: (name: string, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/queues/${name}`, options),

    /** Pause a queue: its tasks wait. */
    pause: (name: string, options?: RequestOptions): Promise<Queue> =>
      http.post(path`/api/v1/scheduler/queues/${name}/pause`, undefined, options),

    /** Resume a paused queue. */
    resume: (name: string, options?: RequestOptions): Promise<Queue> =>
      http.post(path`/api/v1/scheduler/queues/${name}/resume`, undefined, options),
  }
}

/** The activity log: one run per attempt. */
export type Runs = ReturnType<typeof runsOf>

export function runsOf(http: Http) {
  return {
    /** List runs, newest first. */
    list: (query: ListRuns = {}, options?: RequestOptions): List<Run, RunPage> =>
      list(http, '/api/v1/scheduler/runs', query, options),

    /** Export runs as CSV or JSON Lines, newest first. The file may have any size. */
    export: (query: ExportRuns = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> =>
      openExport(http, '/api/v1/scheduler/runs/export', query, options),

    /** Follow new runs as server-sent events. A run is sent about a second after its end. */
    tail: (options?: TailOptions): AsyncGenerator<Run> => tailRuns(http, '/api/v1/scheduler/runs/stream', options),

    /** Group failed runs by host, error and response status. */
    failures: (query: RunFailuresQuery = {}, options?: RequestOptions): Promise<RunFailures> =>
      http.get('/api/v1/scheduler/runs/failures', options, query),

    /** Count the runs of a time by outcome. Default: the last 24 hours, in steps of 30 minutes. */
    counts: (query: RunCountsQuery = {}, options?: RequestOptions): Promise<RunCounts> =>
      http.get('/api/v1/scheduler/runs/counts', options, query),

    /** Read a run with its request and response. */
    get: (id: Id, options?: RequestOptions): Promise<RunDetail> =>
      http.get(path`/api/v1/scheduler/runs/${id}`, options),
  }
}

/** The hosts that tasks call, with their circuit breakers. */
export type Hosts = ReturnType<typeof hostsOf>

export function hostsOf(http: Http) {
  return {
    /** List the hosts that tasks of a workspace call, with their health. */
    list: (options?: RequestOptions): Promise<HostList> => http.get('/api/v1/scheduler/hosts', options),

    /** Read a host with its health. */
    get: (host: string, options?: RequestOptions): Promise<Host> =>
      http.get(path`/api/v1/scheduler/hosts/${host}`, options),

    /** Pause a host: the tasks of the workspace for it wait, except callbacks. */
    pause: (host: string, options?: RequestOptions): Promise<Host> =>
      http.post(path`/api/v1/scheduler/hosts/${host}/pause`, undefined, options),

    /** Resume a paused host, so its waiting tasks start. */
    resume: (host: string, options?: RequestOptions): Promise<Host> =>
      http.post(path`/api/v1/scheduler/hosts/${host}/resume`, undefined, options),

    /** Close the circuit breaker of a host. `dispatchers` is the number of dispatchers that close it. */
    reset: (host: string, options?: RequestOptions): Promise<ResetHost> =>
      http.post(path`/api/v1/scheduler/hosts/${host}/reset`, undefined, options),
  }
}

/** Workspaces, with their members, secrets and connections. `current` is the workspace of the API key. */
export type Workspaces = ReturnType<typeof workspacesOf>

export function workspacesOf(http: Http) {
  return {
    /** Create a workspace. Requires a session token. */
    create: (
      organizationId: Id,
      body: {
        /** A display name of 1 to 200 characters. */
        name: string
      },
      options?: RequestOptions,
    ): Promise<Workspace> => http.post(path`/api/v1/organizations/${organizationId}/workspaces`, toBody(body), options),

    /** Read a workspace. */
    get: (id: Id, options?: RequestOptions): Promise<Workspace> => http.get(path`/api/v1/workspaces/${id}`, options),

    /** Change the name or the settings of a workspace. Requires a session token. */
    update: (
      id: Id,
      body: {
        /** A display name of 1 to 200 characters. */
        name?: string
        /** Whether the log keeps the headers and bodies of responses to requests with secrets. */
        keepsResponsesWithSecrets?: boolean
        /** Whether deliveries also have a `v1a` signature (Ed25519). */
        asymmetricSignatures?: boolean
        /** After how many days a cron job or subscription that only fails is switched off, 0 to 90. 0: never. */
        switchOffAfterDays?: number
      },
      options?: RequestOptions,
    ): Promise<Workspace> => http.patch(path`/api/v1/workspaces/${id}`, toBody(body), options),

    /** Delete a workspace: all of its deliveries stop at once. Requires a session token. */
    delete: (id: Id, options?: RequestOptions): Promise<void> => http.delete(path`/api/v1/workspaces/${id}`, options),

    /** List the members of a workspace; owners and admins need not be among them. */
    members: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<WorkspaceMember> =>
      list(http, path`/api/v1/workspaces/${id}/members`, query, options),

    /** The trust in tokens of CI jobs, which exchange them for API keys. */
    federatedCredentials: {
      /** List the federated credentials of a workspace. Requires a session token. */
      list: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<FederatedCredential> =>
        list(http, path`/api/v1/workspaces/${id}/federated-credentials`, query, options),

      /**
       * Let CI jobs exchange their OpenID Connect tokens for API keys. Requires a session token of an owner
       * or admin.
       */
      create: (id: Id, body: NewFederatedCredential, options?: RequestOptions): Promise<FederatedCredential> =>
        http.post(path`/api/v1/workspaces/${id}/federated-credentials`, toBody(body), options),

      /** Read a federated credential. Requires a session token. */
      get: (workspaceId: Id, credentialId: Id, options?: RequestOptions): Promise<FederatedCredential> =>
        http.get(path`/api/v1/workspaces/${workspaceId}/federated-credentials/${credentialId}`, options),

      /** Delete a federated credential, and revoke the API keys of its jobs. */
      delete: (workspaceId: Id, credentialId: Id, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/workspaces/${workspaceId}/federated-credentials/${credentialId}`, options),
    },

    /** Values that requests refer to, and that are never returned. */
    secrets: {
      /** List the secrets of a workspace by name, without their values. */
      list: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<Secret> =>
        list(http, path`/api/v1/workspaces/${id}/secrets`, query, options),

      /** Create a secret (201), or change its value (200). Requests refer to it as `{{ secrets.NAME }}`. */
      put: (workspaceId: Id, name: string, secret: string | PutSecret, options?: RequestOptions): Promise<Secret> => {
        const body = toBody(typeof secret === 'string' ? { value: secret } : secret)
        return http.put(path`/api/v1/workspaces/${workspaceId}/secrets/${name}`, body, options)
      },

      /** Delete a secret. Tasks that still refer to it fail with `secret_missing`. */
      delete: (workspaceId: Id, name: string, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/workspaces/${workspaceId}/secrets/${name}`, options),
    },

    /** The public keys of signatures. */
    signingKeys: {
      /** List the public keys that verify `v1a` signatures, the current one first. It needs no API key. */
      list: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<SigningKey> =>
        list(http, path`/api/v1/workspaces/${id}/signing-keys`, query, options),
    },

    /** The secrets that sign deliveries. */
    signingSecrets: {
      /** List the signing secrets of a workspace, the current one first. */
      list: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<SigningSecret> =>
        list(http, path`/api/v1/workspaces/${id}/signing-secrets`, query, options),

      /** Create a new signing secret; the old one also signs for 24 hours. */
      rotate: (id: Id, options?: RequestOptions): Promise<SigningSecret> =>
        http.post(path`/api/v1/workspaces/${id}/signing-secrets`, undefined, options),

      /** Revoke an old signing secret at once. */
      revoke: (workspaceId: Id, secretId: Id, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/workspaces/${workspaceId}/signing-secrets/${secretId}`, options),
    },

    /** How calls prove who they are. */
    connections: {
      /** List the connections of a workspace by name, without their secrets. */
      list: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<Connection> =>
        list(http, path`/api/v1/workspaces/${id}/connections`, query, options),

      /** Get a connection, without its secrets. */
      get: (workspaceId: Id, name: string, options?: RequestOptions): Promise<Connection> =>
        http.get(path`/api/v1/workspaces/${workspaceId}/connections/${name}`, options),

      /** Create a connection (201), or replace its settings (200). */
      put: (workspaceId: Id, name: string, body: PutConnection, options?: RequestOptions): Promise<Connection> =>
        http.put(path`/api/v1/workspaces/${workspaceId}/connections/${name}`, toBody(body), options),

      /**
       * Delete a connection that no cron job and no subscription names. Throws `ConflictError`
       * (`connection_in_use`).
       */
      delete: (workspaceId: Id, name: string, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/workspaces/${workspaceId}/connections/${name}`, options),

      /**
       * Test a connection: request a token, or call a URL, and report what happened. Kinds without tokens
       * need a URL.
       */
      test: (
        workspaceId: Id,
        name: string,
        body: {
          /** A URL that is called with GET. Kinds without tokens need it. */
          targetUrl?: string
        } = {},
        options?: RequestOptions,
      ): Promise<ConnectionTest> =>
        http.post(path`/api/v1/workspaces/${workspaceId}/connections/${name}/test`, toDispatchBody(body), options),
    },
  }
}

/** Organizations. An API key reads the one of its workspace; everything else requires a session token. */
export type Organizations = ReturnType<typeof organizationsOf>

export function organizationsOf(http: Http) {
  return {
    /** List the runs of all workspaces that the caller may see, newest first. */
    runs: (id: Id, query: ListOrganizationRuns = {}, options?: RequestOptions): List<Run, RunPage> =>
      list(http, path`/api/v1/organizations/${id}/runs`, query, options),

    /** List the organizations of the signed-in user. */
    list: (query: PageOptions = {}, options?: RequestOptions): List<Organization> =>
      list(http, '/api/v1/organizations', query, options),

    /** Create an organization, of which the caller becomes the owner. */
    create: (
      body: {
        /** A display name of 1 to 200 characters. */
        name: string
      },
      options?: RequestOptions,
    ): Promise<Organization> => http.post('/api/v1/organizations', toBody(body), options),

    /**
     * Read an organization; owners see its usage, an API key sees its name, slug and tier. With an API key
     * of one of its workspaces it is a summary without `policy`.
     */
    get: (id: Id, options?: RequestOptions): Promise<OrganizationDetail | OrganizationSummary> =>
      http.get(path`/api/v1/organizations/${id}`, options),

    /**
     * Change the name, the slug or the policy of an organization. Omitted fields stay unchanged, also
     * within `policy`. Throws `ConflictError` (`slug_taken`).
     */
    update: (
      id: Id,
      body: {
        /** A display name of 1 to 200 characters. */
        name?: string
        /** Unique; part of dashboard URLs. */
        slug?: string
        /** The permissions of members to change. Omitted ones stay unchanged. */
        policy?: {
          membersCanInvite?: boolean
          membersCanCreateApiKeys?: boolean
          membersCanCreateSecrets?: boolean
          membersCanCreateWorkspaces?: boolean
          membersCanDeleteTasks?: boolean
          membersCanManageIntegrations?: boolean
        }
        /** How long a new API key may be valid, in days, 1 to 3,650. Null: without limit. */
        maxApiKeyDays?: number | null
        /** Owners only. */
        requireSecondFactor?: boolean
      },
      options?: RequestOptions,
    ): Promise<Organization> => http.patch(path`/api/v1/organizations/${id}`, toBody(body), options),

    /** Delete an organization that has no workspace left. Requires an owner. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/organizations/${id}`, options),

    /** List the members of an organization. */
    members: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<Member> =>
      list(http, path`/api/v1/organizations/${id}/members`, query, options),

    /** List the workspaces of an organization; a member sees their own, an API key its own. */
    workspaces: (id: Id, query: PageOptions = {}, options?: RequestOptions): List<Workspace> =>
      list(http, path`/api/v1/organizations/${id}/workspaces`, query, options),

    /** The webhook that receives new audit entries. Requires an owner. */
    auditStream: {
      /**
       * Read the webhook that receives the new audit entries, with its signing secrets. Without one its
       * `target` is null.
       */
      get: (id: Id, options?: RequestOptions): Promise<AuditStream> =>
        http.get(path`/api/v1/organizations/${id}/audit-stream`, options),

      /** Send new audit entries to a webhook as JSON lines, or change its URL. */
      put: (id: Id, url: string, options?: RequestOptions): Promise<AuditStream> =>
        http.put(path`/api/v1/organizations/${id}/audit-stream`, toBody({ url }), options),

      /** Stop sending audit entries; those that wait are dropped. */
      delete: (id: Id, options?: RequestOptions): Promise<void> =>
        http.delete(path`/api/v1/organizations/${id}/audit-stream`, options),

      /** Create a new signing secret of the audit stream; the old one also signs for 24 hours. */
      rotateSecret: (id: Id, options?: RequestOptions): Promise<AuditStream> =>
        http.post(path`/api/v1/organizations/${id}/audit-stream/rotate`, undefined, options),
    },
  }
}

/** Whether dispatchers, schedulers and the queue are running. */
export type Status = ReturnType<typeof statusOf>

export function statusOf(http: Http) {
  return {
    /** Get whether all processes run, and what keeps tasks from running. */
    get: (options?: RequestOptions): Promise<ProcessStatus> => http.get('/api/v1/scheduler/status', options),
  }
}
