import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningProcess } from '@belfry/test-support/servers'
import type { RunningService, ServiceName } from '../../processes.ts'
import { findPreload } from '../find-preload.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { type FaultProxy, startProxy } from '../fixture/proxy.ts'
import { type Seat, seats, type TorturePlan } from './plan.ts'

/** A process that is started again when it ends, as a platform would, with its own network and its own clock. */
export type Seated = {
  service: RunningService
  proxies: { postgres: FaultProxy; redis: FaultProxy }
  /** Steps its clock to an offset from the true time, in seconds. */
  setClock(offsetS: number): Promise<void>
  /** Ends it, and returns its exit code or signal. It starts again after `until` has settled. */
  end(signal: 'SIGKILL' | 'SIGTERM', until: Promise<unknown>): Promise<number | string>
}

export type Installation = Record<Seat, Seated>

// As a platform waits before it starts a process again.
const restartMs = 300

/** Starts every process and signs up. */
export async function startInstallation(
  fixture: Fixture,
  { faults, settings = {} }: TorturePlan,
): Promise<Installation> {
  const prepared = await Promise.all(
    seats.map(async seat => {
      const hasOwnClock = faults.some(fault => fault.does === 'clock' && fault.process === seat)
      const part = await prepare(fixture, seat, hasOwnClock)
      Object.assign(part.env, settings)
      return [seat, part] as const
    }),
  )
  const of = Object.fromEntries(prepared) as Record<Seat, Prepared>
  const first = await fixture.startAll({
    api: { env: of.api.env },
    scheduler: { env: of['scheduler 1'].env },
    dispatcher: { env: of['dispatcher 1'].env },
  })
  const services: Record<Seat, RunningService> = {
    api: first.api,
    'scheduler 1': first.scheduler,
    'dispatcher 1': first.dispatcher,
    'scheduler 2': await fixture.start('scheduler', { env: of['scheduler 2'].env }),
    'dispatcher 2': await fixture.start('dispatcher', { env: of['dispatcher 2'].env }),
  }
  return Object.fromEntries(prepared.map(([seat, part]) => [seat, keep(fixture, part, services[seat])])) as Installation
}

type Prepared = Pick<Seated, 'proxies' | 'setClock'> & { name: ServiceName; env: Record<string, string> }

async function prepare(fixture: Fixture, seat: Seat, hasOwnClock: boolean): Promise<Prepared> {
  const { postgres, redis, folder } = fixture
  // Behind the proxies of the fixture, which know where the primary is.
  const proxies = { postgres: await startProxy(postgres.proxy.port), redis: await startProxy(redis.proxy.port) }
  for (const proxy of Object.values(proxies)) fixture.onClose(() => proxy.close())
  const clockFile = join(folder, `clock of ${seat}`)
  const setClock = async (offsetS: number) => {
    // A rename is atomic: no process reads half a file.
    await writeFile(`${clockFile}.new`, `${offsetS < 0 ? '' : '+'}${offsetS}s\n`)
    await rename(`${clockFile}.new`, clockFile)
  }
  if (hasOwnClock) await setClock(0)
  const env = {
    DATABASE_URL: postgres.productUrl.replace(`:${postgres.proxy.port}/`, `:${proxies.postgres.port}/`),
    REDIS_URL: redis.productUrl.replace(`:${redis.proxy.port}`, `:${proxies.redis.port}`),
    ...(hasOwnClock && {
      LD_PRELOAD: findPreload('libfaketime.so.1') ?? '',
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
    }),
  }
  return { name: seat.split(' ')[0] as ServiceName, env, proxies, setClock }
}

function keep(fixture: Fixture, { name, env, proxies, setClock }: Prepared, started: RunningService): Seated {
  let isAway: Promise<unknown> = Promise.resolve()
  const seated: Seated = {
    service: started,
    ...{ proxies, setClock },
    end(signal, until) {
      isAway = Promise.all([isAway, until])
      return seated.service.stop(signal)
    },
  }
  // Another fault may need it away while this one ends, e.g. a restore.
  const mayStart = async () => {
    for (let ended: typeof isAway | null = null; ended !== isAway; await ended) ended = isAway
  }
  keepRunning(seated, () => fixture.spawn(name, { env }), mayStart).catch(() => {}) // the fixture was closed
  return seated
}

/** Starts a process again whenever it has ended, as a platform would. Rejects when it cannot. */
export async function keepRunning<Service extends RunningProcess>(
  seat: { service: Service },
  spawn: () => Service,
  mayStart: () => Promise<unknown> = async () => {},
): Promise<never> {
  for (;;) {
    await seat.service.ended
    await sleep(restartMs)
    await mayStart()
    seat.service = spawn()
  }
}
