import type { FieldError } from '../errors.ts'
import type { ProblemCode } from '../generated/codes.ts'
import type { Task } from '../generated/responses.ts'
import type { TimestampInput } from './request.ts'

export type TaskState = Task['state']

export type Source = Task['source']

/** The time of a task's request. To send at once, publish an event. */
export type TaskTime =
  | {
      /** In the future, at most until the end of 2099. With `timezone`, text without an offset. */
      executeAt: TimestampInput
      /**
       * The IANA time zone of times without an offset. Where clocks skip the time, it is the end of the gap; a time that
       * occurs twice is the first.
       */
      timezone?: string
      delay?: never
    }
  | {
      /** The time from now by this machine's clock: milliseconds, or text such as `90s`, `10m`, `1h30m` or `2d`. */
      delay: string | number
      executeAt?: never
      timezone?: never
    }

/** Either `task` or `error`. */
export type BatchResult =
  | { index: number; task: Task; error?: undefined }
  | {
      index: number
      task?: undefined
      error: { code: ProblemCode; title: string; status: number; detail: string; errors?: FieldError[] | undefined }
    }
