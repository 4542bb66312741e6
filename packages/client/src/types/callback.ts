import type { RunErrorCode } from '../codes.ts'
import type { Id, RetryInput } from './request.ts'
import type { TaskState } from './task.ts'

/** Where Belfry sends the outcome of a task: a POST with the task and the run. */
export type CallbackTarget = {
  /** An absolute http(s) URL. */
  url: string | URL
  /** Default: none. */
  headers?: Record<string, string>
  retry?: RetryInput
  /** Default 30,000. */
  timeoutMs?: number
}

/** The body of a callback, as its receiver parses it. The names are those of the HTTP API. */
export type CallbackPayload = {
  task: { id: Id; name: string; state: TaskState; attempts: number } & Record<string, unknown>
  /** Null when no attempt of the task ended. */
  run:
    | ({
        id: Id
        attempt: number
        status: 'success' | 'failed'
        error: { code: RunErrorCode; message: string } | null
        response: {
          status: number
          headers: Record<string, string | string[]>
          /** Null when the response is not text; then `body_base64` is set. */
          body: string | null
          body_base64: string | null
          /** Bytes received; the body may be shorter. */
          body_bytes: number
          body_truncated: boolean
        } | null
      } & Record<string, unknown>)
    | null
}

/** The callbacks of a task. In a change, null removes one. */
export type CallbackFields = {
  /** Called when the task succeeds. */
  onSuccess?: CallbackTarget | null
  /** Called when the task is dead. */
  onFailure?: CallbackTarget | null
  /** Called after each attempt. */
  onAttempt?: CallbackTarget | null
}
