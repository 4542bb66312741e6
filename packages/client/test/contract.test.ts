import type * as contract from '@belfry/contract'
import { describe, expectTypeOf, it } from 'vitest'
import type * as client from '../src/index.ts'

type CamelName<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : S

// What users put in keeps its names, as in src/case.ts.
type Camel<T> =
  T extends Array<infer Item>
    ? Array<Camel<Item>>
    : T extends object
      ? {
          [Name in keyof T as Name extends string ? CamelName<Name> : Name]: Name extends 'headers'
            ? T[Name]
            : Camel<T[Name]>
        }
      : T

type Merged<T> = { [Name in keyof T]: T[Name] }

// These run nothing: when the contract and the client differ, the type check fails.
describe('answers are what the contract says', () => {
  it('task', () => expectTypeOf<client.Task>().branded.toEqualTypeOf<Camel<contract.Task>>())
  it('cron job', () => expectTypeOf<client.CronJob>().branded.toEqualTypeOf<Merged<Camel<contract.CronJob>>>())
  it('preview', () => expectTypeOf<client.CronPreview>().branded.toEqualTypeOf<Merged<Camel<contract.CronPreview>>>())
  it('run', () => expectTypeOf<client.RunDetail>().branded.toEqualTypeOf<Merged<Camel<contract.RunDetail>>>())
  it('organization', () => expectTypeOf<client.Organization>().branded.toEqualTypeOf<Camel<contract.Organization>>())
  it('workspace', () => expectTypeOf<client.Workspace>().branded.toEqualTypeOf<Camel<contract.Workspace>>())
})

describe('requests are what the contract takes', () => {
  type Fields<T> = keyof { [Name in keyof T as Name extends string ? CamelName<Name> : never]: 1 }
  type OfDispatch<T> = Exclude<keyof T, 'targetUrl'> | 'url'

  it('task', () => {
    expectTypeOf<OfDispatch<client.CreateTask>>().toEqualTypeOf<Fields<contract.CreateTaskBody>>()
    expectTypeOf<OfDispatch<client.UpdateTask>>().toEqualTypeOf<Fields<contract.UpdateTaskBody>>()
    expectTypeOf<keyof client.RetryPolicy>().toEqualTypeOf<Fields<contract.CreateTaskBody['retry']>>()
    expectTypeOf<keyof client.ListTasks>().toEqualTypeOf<Fields<contract.ListTasksQuery>>()
  })
  it('cron job', () => {
    expectTypeOf<OfDispatch<client.CreateCronJob>>().toEqualTypeOf<Fields<contract.CreateCronJobBody>>()
    expectTypeOf<OfDispatch<client.UpdateCronJob>>().toEqualTypeOf<Fields<contract.UpdateCronJobBody>>()
    expectTypeOf<keyof client.ListCronJobs>().toEqualTypeOf<Fields<contract.ListCronJobsQuery>>()
  })
  it('runs', () => expectTypeOf<keyof client.ListRuns>().toEqualTypeOf<Fields<contract.ListRunsQuery>>())
})
