import type { RunErrorCode } from '../generated/codes.ts'
import type { Id } from './request.ts'
import type { TaskState } from './task.ts'

/** The body of a callback, as its receiver parses it. It has the names of the HTTP API. */
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
