import type { DatabaseClock } from '@belfry/db/postgres/database-clock'
import type { Pool } from '@belfry/db/postgres/pool'
import type { DispatchQueue } from '@belfry/queue'
import type { Tracing } from '@belfry/runtime'
import type { ConnectionsContext } from '../connections/open-connections.ts'
import type { Sender } from '../egress/send.ts'
import type { Metrics } from '../metrics.ts'
import type { SecretsContext } from '../secrets/attempt-secrets.ts'
import type { BatchContext } from '../statements/batched-statements.ts'
import type { Identity } from './build-request.ts'
import type { SendFence } from './send-fence.ts'
import type { ServedTimes } from './served-times.ts'

export type AttemptContext = SecretsContext &
  ConnectionsContext &
  BatchContext & {
    /** Writes the log line of a finished attempt. It must not contain credentials. */
    logAttempt: (members: object) => void
    /** The part of the successful attempts that it shows, in percent. */
    attemptLogPercent: number
    metrics: Metrics
    /** Null when tracing is off. */
    tracing: Tracing | null
    pool: Pool
    clock: DatabaseClock
    fence: SendFence
    sender: Sender
    identity: Identity
    /** Null without a Redis: dispatchers then find due tasks in PostgreSQL. */
    queue: DispatchQueue | null
    served: ServedTimes
    /** Aborted when the process is to stop: attempts must not start after that. */
    stop: AbortSignal
  }
