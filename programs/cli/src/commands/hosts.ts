import type { Command } from 'commander'
import type { Context } from '../context.ts'

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
