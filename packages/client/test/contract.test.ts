import type {
  BulkOperation,
  cancelledTasks,
  countTasksQuery,
  DeadLetterOperation,
  discardedDeadLetters,
  endTasksBody,
  replayDeadLettersBody,
  replayedDeadLetters,
  settleDeadLettersBody,
  startBulkOperationBody,
  stoppedTasks,
  TaskOperation,
} from '@belfry/contract/bulk-operation'
import type { Connection, ConnectionTest } from '@belfry/contract/connection'
import type {
  CronJob,
  createCronJobBody,
  listCronJobsQuery,
  previewCronJobBody,
  updateCronJobBody,
} from '@belfry/contract/cron-job'
import type { PublishedEvent, publishEventBody } from '@belfry/contract/event'
import type { Hosts } from '@belfry/contract/host'
import type { ResponseBody } from '@belfry/contract/operation'
import type { operations } from '@belfry/contract/operations'
import type { Member, Organization, OrganizationSummary, updateOrganizationBody } from '@belfry/contract/organization'
import type { listQuery } from '@belfry/contract/page'
import type { Problem } from '@belfry/contract/problem'
import type { listQueuesQuery, Queue, updateQueueBody } from '@belfry/contract/queue'
import type {
  exportRunsQuery,
  listOrganizationRunsQuery,
  listRunsQuery,
  Run,
  RunDetail,
  RunPage,
} from '@belfry/contract/run'
import type { Secret, SigningSecret } from '@belfry/contract/secret'
import type { Status } from '@belfry/contract/status'
import type { createSubscriptionBody, Subscription, updateSubscriptionBody } from '@belfry/contract/subscription'
import type { createTaskBody, listDeadLettersQuery, listTasksQuery, Task, updateTaskBody } from '@belfry/contract/task'
import type { BatchRow } from '@belfry/contract/task-batch'
import type { exportTasksQuery } from '@belfry/contract/task-operations'
import type { updateWorkspaceBody, Workspace } from '@belfry/contract/workspace'
import { describe, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type * as client from '../src/index.ts'

type CamelName<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : S

// Names inside user data stay unchanged, as in src/case.ts.
type Camel<T> =
  T extends Array<infer Item>
    ? Array<Camel<Item>>
    : T extends object
      ? {
          [Name in keyof T as Name extends string ? CamelName<Name> : Name]: Name extends
            | 'headers'
            | 'parameters'
            | 'arguments'
            ? T[Name]
            : Camel<T[Name]>
        }
      : T

type Merged<T> = { [Name in keyof T]: T[Name] }

// Type tests: when the contract and the client differ, the type check fails.
describe('responses have the types of the contract', () => {
  it('task', () => expectTypeOf<client.Task>().branded.toEqualTypeOf<Camel<Task>>())
  it('batch', () => {
    type Of<T, Name extends string> = Extract<T, Record<Name, unknown>>[Name & keyof Extract<T, Record<Name, unknown>>]
    type Error = Of<BatchRow, 'error'>
    type Told = NonNullable<Extract<client.BatchResult, { error: object }>['error']>
    expectTypeOf<keyof Told>().toEqualTypeOf<keyof Error>()
    expectTypeOf<Error['code']>().toExtend<Told['code']>()
    expectTypeOf<client.FieldError>().toEqualTypeOf<NonNullable<Problem['errors']>[number]>()
  })
  it('dead letters', () => {
    expectTypeOf<client.DeadLetterOperation>().branded.toEqualTypeOf<Merged<Camel<DeadLetterOperation>>>()
    type Replayed = Camel<z.output<typeof replayedDeadLetters>>
    type Discarded = Camel<z.output<typeof discardedDeadLetters>>
    expectTypeOf<client.ReplayedDeadLetters>().branded.toEqualTypeOf<Replayed>()
    expectTypeOf<client.DiscardedDeadLetters>().branded.toEqualTypeOf<Discarded>()
  })
  it('bulk operations', () => {
    expectTypeOf<client.BulkOperation>().branded.toEqualTypeOf<Merged<Camel<BulkOperation>>>()
  })
  it('ended tasks', () => {
    expectTypeOf<client.TaskOperation>().branded.toEqualTypeOf<Merged<Camel<TaskOperation>>>()
    expectTypeOf<client.CancelledTasks>().branded.toEqualTypeOf<Camel<z.output<typeof cancelledTasks>>>()
    expectTypeOf<client.StoppedTasks>().branded.toEqualTypeOf<Camel<z.output<typeof stoppedTasks>>>()
    expectTypeOf<client.TaskCount>().branded.toEqualTypeOf<Camel<ResponseBody<typeof operations.countTasks>>>()
  })
  it('cron job', () => expectTypeOf<client.CronJob>().branded.toEqualTypeOf<Merged<Camel<CronJob>>>())
  it('preview', () =>
    expectTypeOf<client.CronPreview>().branded.toEqualTypeOf<
      Merged<Camel<ResponseBody<typeof operations.previewCronJob>>>
    >())
  it('run', () => {
    expectTypeOf<client.Run>().branded.toEqualTypeOf<Camel<Run>>()
    expectTypeOf<Merged<client.RunPage>>().branded.toEqualTypeOf<Camel<RunPage>>()
    expectTypeOf<client.RunDetail>().branded.toEqualTypeOf<Merged<Camel<RunDetail>>>()
  })
  it('hosts', () => expectTypeOf<client.Hosts>().branded.toEqualTypeOf<Camel<Hosts>>())
  it('queue', () => expectTypeOf<client.Queue>().branded.toEqualTypeOf<Camel<Queue>>())
  it('status', () => expectTypeOf<client.Status>().branded.toEqualTypeOf<Camel<Status>>())
  it('event', () => expectTypeOf<client.PublishedEvent>().branded.toEqualTypeOf<Camel<PublishedEvent>>())
  it('subscription', () => expectTypeOf<client.Subscription>().branded.toEqualTypeOf<Camel<Subscription>>())
  it('organization', () => {
    expectTypeOf<client.Organization>().branded.toEqualTypeOf<Camel<Organization>>()
    expectTypeOf<client.OrganizationSummary>().branded.toEqualTypeOf<Camel<OrganizationSummary>>()
    expectTypeOf<client.Member>().branded.toEqualTypeOf<Camel<Member>>()
  })
  it('workspace', () => {
    expectTypeOf<client.Workspace>().branded.toEqualTypeOf<Camel<Workspace>>()
    expectTypeOf<client.Secret>().branded.toEqualTypeOf<Camel<Secret>>()
    expectTypeOf<client.Connection>().branded.toEqualTypeOf<Camel<Connection>>()
    expectTypeOf<client.ConnectionTest>().branded.toEqualTypeOf<Camel<ConnectionTest>>()
    expectTypeOf<client.SigningKey>().branded.toEqualTypeOf<
      Camel<ResponseBody<typeof operations.listSigningKeys>['data'][number]>
    >()
    expectTypeOf<client.SigningSecret>().branded.toEqualTypeOf<Camel<SigningSecret>>()
  })
})

describe('codes are those of Belfry', () => {
  it('of errors, runs and tasks', () => {
    type OfThisLibrary = 'invalid_answer' | 'redirected'
    expectTypeOf<Exclude<client.ProblemCode, OfThisLibrary>>().toEqualTypeOf<Problem['code']>()
    expectTypeOf<client.RunErrorCode>().toEqualTypeOf<NonNullable<Run['error']>['code']>()
    expectTypeOf<client.WaitReason>().toEqualTypeOf<NonNullable<Run['waited_for']>>()
    expectTypeOf<client.StateReason>().toEqualTypeOf<NonNullable<Task['state_reason']>>()
  })
})

describe('requests have the types of the contract', () => {
  // Headers and payloads are not checked, because the contract has rules instead of types for them.
  type Plain<T> = { [Name in Exclude<keyof T, 'headers' | 'payload'>]-?: Field<Exclude<T[Name], undefined>> }
  type Field<T> = T extends URL ? string : T extends object ? Plain<T> : T
  // The client converts its input before sending it.
  type Sent<T> = {
    [Name in keyof T as Name extends 'targetUrl' ? 'url' : Name]: Name extends 'method'
      ? Uppercase<Extract<T[Name], string>>
      : Date extends T[Name]
        ? Exclude<T[Name], Date>
        : T[Name]
  }
  // The client computes the time of a delay, and adds the default name and method.
  type Timed<T> = Merged<Omit<Extract<T, { delay?: never }>, 'delay'>>
  type Named<T> = { [Name in Extract<keyof T, 'name' | 'method'>]-?: NonNullable<T[Name]> } & Omit<T, 'name' | 'method'>
  type Input<T extends z.ZodType> = Camel<z.input<T>>
  type OptionalOf<T> = { [Name in keyof T]-?: undefined extends T[Name] ? Name : never }[keyof T]

  it('task', () => {
    type Taken = Input<typeof createTaskBody>
    type Created = Named<Timed<client.CreateTask>>
    expectTypeOf<Plain<Sent<Created>>>().branded.toEqualTypeOf<Plain<Taken>>()
    expectTypeOf<keyof Sent<Created>>().toEqualTypeOf<keyof Taken>()
    expectTypeOf<OptionalOf<Sent<Created>>>().toEqualTypeOf<OptionalOf<Taken>>()
    type Change = Input<typeof updateTaskBody>
    expectTypeOf<Plain<Sent<Timed<client.UpdateTask>>>>().branded.toEqualTypeOf<Plain<Change>>()
    expectTypeOf<keyof Sent<Timed<client.UpdateTask>>>().toEqualTypeOf<keyof Change>()
  })
  it('cron job', () => {
    type Taken = Input<typeof createCronJobBody>
    expectTypeOf<Plain<Sent<client.CreateCronJob>>>().branded.toEqualTypeOf<Plain<Taken>>()
    expectTypeOf<keyof Sent<client.CreateCronJob>>().toEqualTypeOf<keyof Taken>()
    expectTypeOf<OptionalOf<Sent<Named<client.CreateCronJob>>>>().toEqualTypeOf<OptionalOf<Taken>>()
    type Change = Input<typeof updateCronJobBody>
    expectTypeOf<Plain<Sent<client.UpdateCronJob>>>().branded.toEqualTypeOf<Plain<Change>>()
    expectTypeOf<keyof Sent<client.UpdateCronJob>>().toEqualTypeOf<keyof Change>()
    type Preview = Parameters<client.Belfry['cronJobs']['preview']>[0]
    expectTypeOf<Plain<Sent<Preview>>>().branded.toEqualTypeOf<Plain<Input<typeof previewCronJobBody>>>()
  })
  it('event and subscription', () => {
    type Event = Input<typeof publishEventBody>
    // The fields have the names of the HTTP API here: `targetUrl` is `target_url`.
    expectTypeOf<Plain<client.PublishEvent>>().branded.toEqualTypeOf<Plain<Event>>()
    expectTypeOf<keyof client.PublishEvent>().toEqualTypeOf<keyof Event>()
    type Taken = Input<typeof createSubscriptionBody>
    expectTypeOf<Plain<Sent<client.CreateSubscription>>>().branded.toEqualTypeOf<Plain<Taken>>()
    expectTypeOf<keyof Sent<client.CreateSubscription>>().toEqualTypeOf<keyof Taken>()
    expectTypeOf<OptionalOf<Sent<client.CreateSubscription>>>().toEqualTypeOf<OptionalOf<Taken>>()
    expectTypeOf<keyof Sent<client.UpdateSubscription>>().toEqualTypeOf<keyof Input<typeof updateSubscriptionBody>>()
  })
  it('queue', () => {
    type Limits = Input<typeof updateQueueBody>
    expectTypeOf<Plain<client.QueueLimits>>().branded.toEqualTypeOf<Plain<Limits>>()
    expectTypeOf<keyof client.ListQueues>().toEqualTypeOf<keyof Input<typeof listQueuesQuery>>()
  })
  it('tasks to end', () => {
    type Taken = Input<typeof endTasksBody>
    expectTypeOf<keyof client.TaskChoice>().toEqualTypeOf<keyof Taken>()
    expectTypeOf<keyof client.TaskFilter>().toEqualTypeOf<keyof NonNullable<Taken['filter']>>()
    type Counted = Parameters<client.Belfry['tasks']['count']>[0]
    expectTypeOf<keyof NonNullable<Counted>>().toEqualTypeOf<keyof Input<typeof countTasksQuery>>()
  })
  it('bulk operations', () => {
    type Taken = Input<typeof startBulkOperationBody>
    expectTypeOf<keyof client.StartBulkOperation>().toEqualTypeOf<keyof Taken>()
    type Filter = NonNullable<client.StartBulkOperation['filter']>
    expectTypeOf<keyof Filter>().toEqualTypeOf<keyof NonNullable<Taken['filter']>>()
    expectTypeOf<client.BulkAction>().toEqualTypeOf<Taken['action']>()
  })
  it('dead letters', () => {
    type Taken = Input<typeof settleDeadLettersBody>
    expectTypeOf<keyof client.ReplayChoice>().toEqualTypeOf<keyof Input<typeof replayDeadLettersBody>>()
    expectTypeOf<keyof client.DeadLetterChoice>().toEqualTypeOf<keyof Taken>()
    expectTypeOf<keyof client.DeadLetterFilter>().toEqualTypeOf<keyof NonNullable<Taken['filter']>>()
  })
  it('organization and workspace', () => {
    type Change = Parameters<client.Belfry['organizations']['update']>[1]
    expectTypeOf<Plain<Change>>().branded.toEqualTypeOf<Plain<Input<typeof updateOrganizationBody>>>()
    type Renaming = Parameters<client.Belfry['workspaces']['update']>[1]
    expectTypeOf<keyof Renaming>().toEqualTypeOf<keyof Input<typeof updateWorkspaceBody>>()
  })
  it('filters', () => {
    type Names<T extends z.ZodType> = keyof Input<T>
    expectTypeOf<keyof client.ListTasks>().toEqualTypeOf<Names<typeof listTasksQuery>>()
    expectTypeOf<keyof client.ListDeadLetters>().toEqualTypeOf<Names<typeof listDeadLettersQuery>>()
    expectTypeOf<keyof client.ListCronJobs>().toEqualTypeOf<Names<typeof listCronJobsQuery>>()
    expectTypeOf<keyof client.ListRuns>().toEqualTypeOf<Names<typeof listRunsQuery>>()
    expectTypeOf<keyof client.ListOrganizationRuns>().toEqualTypeOf<Names<typeof listOrganizationRunsQuery>>()
    expectTypeOf<keyof client.PageOptions>().toEqualTypeOf<Names<typeof listQuery>>()
    expectTypeOf<keyof client.ExportRuns>().toEqualTypeOf<Names<typeof exportRunsQuery>>()
    expectTypeOf<keyof client.ExportTasks>().toEqualTypeOf<Names<typeof exportTasksQuery>>()
    type Format = Input<typeof exportTasksQuery>['format']
    expectTypeOf<client.ExportTasks['format']>().toEqualTypeOf<Format>()
  })
})
