import type { Row } from '../row.ts'
import { apiKills } from './api-kills.ts'
import { callbacks } from './callbacks.ts'
import { cancelRace } from './cancel-race.ts'
import { clocks } from './clocks.ts'
import { cronJobs } from './cron-jobs.ts'
import { crowdedStores } from './crowded-stores.ts'
import { deadHosts } from './dead-hosts.ts'
import { deathsUnderLoad } from './deaths-under-load.ts'
import { deployments } from './deployments.ts'
import { dispatcherKills } from './dispatcher-kills.ts'
import { dispatcherStops } from './dispatcher-stops.ts'
import { failovers } from './failovers.ts'
import { lateWork } from './late-work.ts'
import { postgresClock } from './postgres-clock.ts'
import { postgresRestarts } from './postgres-restarts.ts'
import { postgresTrouble } from './postgres-trouble.ts'
import { queues } from './queues.ts'
import { quotas } from './quotas.ts'
import { redisLoss } from './redis-loss.ts'
import { redisTrouble } from './redis-trouble.ts'
import { repeatedFailovers } from './repeated-failovers.ts'
import { schedulers } from './schedulers.ts'
import { stopsInOutages } from './stops-in-outages.ts'
import { targets } from './targets.ts'

const groups: Row[][] = [
  ...[apiKills, dispatcherKills, dispatcherStops, redisLoss, redisTrouble, postgresRestarts, postgresTrouble],
  ...[
    schedulers,
    clocks,
    targets,
    cancelRace,
    cronJobs,
    deathsUnderLoad,
    failovers,
    repeatedFailovers,
    lateWork,
    postgresClock,
    quotas,
  ],
  [...stopsInOutages, ...callbacks, ...queues, ...deployments, ...deadHosts, ...crowdedStores],
]

/** Every row that can be run today, in the order of the matrix. */
export const allRows = groups.flat().sort((a, b) => a.id.localeCompare(b.id))
