import { apiKills } from './api-kills.ts'
import { cancelRace } from './cancel-race.ts'
import { clocks } from './clocks.ts'
import { dispatcherKills } from './dispatcher-kills.ts'
import { dispatcherStops } from './dispatcher-stops.ts'
import { postgresRestarts } from './postgres-restarts.ts'
import { postgresTrouble } from './postgres-trouble.ts'
import { redisLoss } from './redis-loss.ts'
import { redisTrouble } from './redis-trouble.ts'
import { schedulers } from './schedulers.ts'
import { targets } from './targets.ts'

const groups = [
  ...[apiKills, dispatcherKills, dispatcherStops, redisLoss, redisTrouble, postgresRestarts, postgresTrouble],
  ...[schedulers, clocks, targets, cancelRace],
]

/** Every row that can be run today, in the order of the matrix. */
export const allRows = groups.flat().sort((a, b) => a.id.localeCompare(b.id))
