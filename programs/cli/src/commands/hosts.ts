import type { Host } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Cell, Row } from '../output/output.ts'

export const hostHeading = ['HOST', 'CIRCUIT', 'NEXT PROBE', 'WAITING', 'IN FLIGHT', 'ATTEMPTS', 'FAILED']

export function addHosts(program: Command, context: () => Context): void {
  const hosts = program
    .command('hosts')
    .description(
      'list the hosts of the last day with the attempts of the last hour, paused ones and open circuit breakers first; pause hosts and close circuit breakers',
    )
  for (const verb of ['pause', 'resume', 'reset'] as const) {
    const { about, done } = verbs[verb]
    hosts
      .command(verb)
      .description(about)
      .argument('<host>', 'such as example.com or example.com:8443')
      .action(async (host: string) => {
        const ctx = context()
        ctx.out.show(await ctx.belfry().hosts[verb](host, { signal: ctx.signal }), `${host}  ${done}`)
      })
  }
}

const verbs = {
  pause: { about: 'let the tasks for a host wait', done: 'paused' },
  resume: { about: 'let the tasks for a paused host start', done: 'resumed' },
  reset: {
    about: 'close the circuit breaker of a host, so its waiting tasks start',
    done: 'circuit breaker closed',
  },
}

export function hostRow(host: Host): Row {
  const { state, nextProbeAt } = host.circuit
  const isCalled = state === 'closed' && host.pausedAt === null
  const circuit: Cell = isCalled ? state : { text: host.pausedAt === null ? state : 'paused', colour: 'red' }
  const counts = [host.waiting, host.inFlight, host.health.hour.attempts, host.health.hour.failed].map(String)
  return { value: host, cells: [host.host, circuit, nextProbeAt ?? '-', ...counts] }
}
