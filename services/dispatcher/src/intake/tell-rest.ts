import { recordClosedCircuit, recordOpenCircuit } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import type { Lined } from './lines.ts'

/** Tells operators that a host rests for so long, or that it does well again, in the log and in the list of such hosts. */
export function tellRest(ctx: Context, { host, workspace }: Lined, restMs: number | null): void {
  const who = { host, workspace: toId('ws', workspace) }
  const rest = { dispatcher: ctx.dispatcher.id, workspaceId: workspace, host }
  if (restMs === null) {
    ctx.log.info(who, 'host.rested')
  } else {
    ctx.log.warn({ ...who, restMs }, 'host.resting')
    ctx.metrics.hostRested()
  }
  const noting = restMs === null ? recordClosedCircuit(ctx.pool, rest) : recordOpenCircuit(ctx.pool, rest, restMs)
  noting.catch(err => ctx.log.warn({ err, ...who }, 'host.not_listed'))
}
