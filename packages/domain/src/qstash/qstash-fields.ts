/** What a message of the QStash interface has beyond a task. Stored as JSON text with the request of the task. */
export type QstashFields = {
  /** The expression that the delays before retries were computed from. Absent for the default. */
  retryDelay?: string
  /** The address of the publisher. */
  callerIP?: string
  scheduleId?: string
  /** Of a schedule: how long after each of its times a message is sent, in milliseconds. Absent: at once. */
  delayMs?: number
  /** The URL group that the message was published to, and the name of its endpoint there. */
  topicName?: string
  endpointName?: string
  flowControl?: QstashFlowControl
  /** Parts that no answer shows: `body`, `header` for all headers, or `header[name]`. */
  redact?: readonly string[]
  /** By the event of the stored callback. `message`: the same fields for the callback itself. */
  callbacks?: { [Event in 'on_attempt' | 'on_failure']?: QstashCallback }
}

/** What a callback of a message has beyond the callback of a task. */
export type QstashCallback = { method: string; delayMs: number; message: QstashFields }

/** The key of a flow control with the limits that the message gave. `period` in seconds. */
export type QstashFlowControl = { key: string; parallelism?: number; rate?: number; period?: number }
